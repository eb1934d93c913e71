"""Allocated memory of Megatron-LM on eight B200, as SimuMax measured it, beside the prediction."""

from __future__ import annotations

from statistics import mean

import pytest

from simumax_rows import FIGURES, error

DENSE = [row for row in FIGURES["rows"] if row["expert"] == 1]
EXPERTS = [row for row in FIGURES["rows"] if row["expert"] > 1]


@pytest.mark.parametrize("row", FIGURES["rows"], ids=lambda row: row["case"])
def test_a_layout(row):
    assert abs(error(row)) < 0.02


@pytest.mark.parametrize(("rows", "count", "most"), [(DENSE, 15, 0.02), (EXPERTS, 4, 0.04)], ids=["dense", "experts"])
def test_all_together(rows, count, most):
    assert len(rows) == count
    assert mean(abs(error(row)) for row in rows) < most
