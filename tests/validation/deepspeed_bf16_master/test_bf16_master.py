"""DeepSpeed's example of 16-bit copies of weights: within 3 %."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

RUNS = run_path(str(Path(__file__).with_name("runs.py")))


def test_every_row_is_near():
    errors = {row["key"]: found / row["gib"] - 1 for row, found, _ in RUNS["predicted"]()}
    assert len(errors) == 3
    assert all(abs(error) <= 0.03 for error in errors.values()), errors
