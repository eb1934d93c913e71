"""docs/validation.md says what is so; every row has its place; what is far off has its cause."""

from __future__ import annotations

import json
import os
from pathlib import Path
from runpy import run_path

import pytest

PAGE = run_path(str(Path(__file__).with_name("page.py")))
FRAMEWORKS = ("litgpt", "torchtune", "xtuner")


def test_the_tables_are_as_they_are():
    text = PAGE["PAGE"].read_text(encoding="utf-8")
    assert text == PAGE["page"](text), "run: python tests/validation/page.py"


def test_what_is_far_off_has_its_cause():
    runs, comparison, _ = PAGE["one_gpu"]()
    told = {run["key"]: run for run in runs}
    assert [row.key for row in comparison.rows if abs(row.error) > 0.1 and not told[row.key].get("cause")] == []
    assert comparison.refused == ()
    assert all(run["source"] and run["about"] for run in runs)


def test_every_published_row_of_one_gpu_has_its_place():
    file = Path(os.environ.get("ALIGNSIM_CORPORA", "")) / "published.json"
    if "ALIGNSIM_CORPORA" not in os.environ or not file.is_file():
        pytest.skip("needs ALIGNSIM_CORPORA with published.json")
    ours = {run["key"] for run in PAGE["one_gpu"]()[0]} | set(PAGE["left_out"]())
    theirs = {
        row["id"]
        for row in json.loads(file.read_text(encoding="utf-8"))
        if row["id"].startswith(FRAMEWORKS)
        and row["completeness"] >= 4
        and row["kind"] == "measured"
        and row["unit"].startswith(("GB", "GiB"))
        and not str(row["settings"].get("hardware")).startswith("8x")
        and (row["settings"].get("gpus") or 1) == 1
    }
    assert ours == theirs


def test_traces():
    comparison = PAGE["tensor_traces"]()
    if comparison is None:
        pytest.skip("needs ALIGNSIM_CORPORA with tensor_traces.json, and a plugin that reads it")
    summary = comparison.summary
    assert summary.median_error <= 0.01
    assert summary.within_1_percent >= 0.9
    assert summary.phase_right >= 0.9


def test_traces_of_one_rank_of_several():
    comparison = PAGE["tensor_traces"]("rows_fsdp2")
    if comparison is None:
        pytest.skip("needs ALIGNSIM_CORPORA with tensor_traces.json, and a plugin that reads it")
    assert len(comparison.rows) == 29
    assert comparison.refused == ()
    assert comparison.summary.median_error <= 1e-5
    assert all(abs(row.error) <= 1e-5 for row in comparison.rows)
    assert comparison.summary.phase_right == 1
    off = {(row.key, phase) for row in comparison.rows for phase, e in row.phase_errors.items() if abs(e) > 1e-4}
    assert off == {("rows_fsdp2[28]", "optimizer")}, "the trace has no instant before one layer's gradient is freed"
    assert all(abs(e) <= 0.007 for row in comparison.rows for e in row.phase_errors.values())
