"""Coefficients of loss paths against the operations themselves, counted anew where PyTorch is."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from alignsim import default_registry

pytestmark = pytest.mark.skipif(not find_spec("torch"), reason="needs torch")
NAMES = (
    "transformers-4.44",
    "transformers-4.46",
    "trl-simpo",
    "trl-cpo",
    "trl-cpo-gather",
    "trl-kto",
    "trl-gkd",
    "trl-gkd-forward",
    "trl-gkd-reverse",
)
COMPLETIONS = 0.5
"""Of all tokens, in the distillations."""


@pytest.fixture(scope="module")
def counting() -> Any:
    return run_path(str(Path(__file__).with_name("count.py")))


def expected(name: str, wide: bool) -> list[float]:
    """Return what a component says of forward, held and backward, in bytes per token and word."""
    numbers = {key: float(c.value) for key, c in default_registry().component("loss", name).defaults.items()}
    if f"forward_{'wide' if wide else 'narrow'}" in numbers:
        return [numbers[f"{moment}_{'wide' if wide else 'narrow'}"] for moment in ("forward", "held", "backward")]
    size = 4.0 if wide else 2.0
    forward, held, backward = (COMPLETIONS * numbers[f"{m}_copies"] for m in ("forward", "held", "backward"))
    whole = max(size * max(backward, 1 + COMPLETIONS), size + 2 if wide else 0)
    return [size * (2 + forward), size * held, whole]  # the teacher's logits are there as well


@pytest.mark.parametrize("wide", [False, True], ids=["16 bits", "32 bits"])
@pytest.mark.parametrize("name", NAMES)
def test_counted_anew(counting, name, wide):
    counted = counting["measure"](counting["LOSSES"][name], wide)
    assert list(counted) == pytest.approx(expected(name, wide), rel=0.012)  # shifts leave out a token of 512


def test_all_are_counted(counting):
    assert set(counting["LOSSES"]) == set(NAMES)
