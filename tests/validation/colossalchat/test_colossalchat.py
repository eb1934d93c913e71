"""ColossalChat's rows: how far off, and what each that is off is put down to. Coefficients of its losses, counted."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from runpy import run_path

import pytest

from alignsim import default_registry

HERE = Path(__file__).parent
RUNS = run_path(str(HERE / "runs.py"))
WITH_REFERENCE = ("colossalchat-dpo", "colossalchat-kto")


def test_most_rows_are_near():
    errors = {row["key"]: predicted / row["mib"] - 1 for row, predicted, _ in RUNS["predicted"]()}
    assert len(errors) == 21
    assert sum(abs(error) <= 0.06 for error in errors.values()) >= 0.7 * len(errors)
    assert sum(abs(error) <= 0.15 for error in errors.values()) >= 0.9 * len(errors)
    told = {row["key"] for row in RUNS["FIGURES"]["rows"] if "cause" in row}
    assert {key for key, error in errors.items() if abs(error) > 0.06} == told


@pytest.mark.skipif(not find_spec("torch"), reason="needs torch")
@pytest.mark.parametrize("name", ["sft", "simpo", "dpo", "orpo", "kto"])
def test_logits_counted_anew(name):
    loss = f"colossalchat-{name}"
    peaks, now = run_path(str(HERE / "count.py"))["measure"](loss)
    of = {key: constant.value for key, constant in default_registry().component("loss", loss).defaults.items()}
    left = of["left_bytes"] * (2 if loss in WITH_REFERENCE else 1)
    expected = [left + of["forward_wide"], left + of["held_wide"], left + of["backward_wide"], left]
    counted = [peaks["forward"], now["forward"], peaks["backward"], now["backward"]]
    if loss in WITH_REFERENCE:
        expected.append(left + of["held_wide"] + of["inferred_wide"])
        counted.append(peaks["inferred"])
    assert counted == pytest.approx(expected, rel=0.012)  # shifts leave out a token of 512
