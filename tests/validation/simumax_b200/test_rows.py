"""Allocated memory of Megatron-LM on eight B200, as SimuMax measured it, beside the prediction."""

from __future__ import annotations

from statistics import mean

import pytest

from simumax_rows import FIGURES, error


@pytest.mark.parametrize("row", FIGURES["rows"], ids=lambda row: row["case"])
def test_a_layout(row):
    assert abs(error(row)) < 0.02


def test_all_together():
    assert mean(abs(error(row)) for row in FIGURES["rows"]) < 0.02
