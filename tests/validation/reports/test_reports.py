"""Public reports: figures are inside the range, outcomes are not denied, but for rows with a cause."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import pytest

FOUND = run_path(str(Path(__file__).with_name("runs.py")))
REPORTS = {report.key: report for report in FOUND["reports"]()}
CAUSES = FOUND["CAUSES"]
DENIED = {"runs": "does not fit", "fails": "fits"}


def agrees(report):
    result = report.scenario.result
    if report.said == "measured":
        low, _, high = (end / 2**30 for end in result.ends(report.figure))
        return low <= report.measured <= high
    return result.verdict.status != DENIED[report.said]


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_said_and_told(report):
    assert agrees(report) == (report.key not in CAUSES)


def test_every_row_is_counted_once():
    assert len(REPORTS) == 42
    assert set(CAUSES) <= set(REPORTS)
    assert set(FOUND["LEFT_OUT"]).isdisjoint(REPORTS)


def test_few_outcomes_are_close_calls():
    told = [r.scenario.result.verdict.status for r in REPORTS.values() if r.said != "measured"]
    assert told.count("close call") <= len(told) / 4
