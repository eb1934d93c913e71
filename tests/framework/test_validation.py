"""Predictions beside measurements."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Case, InvalidInput, UnknownName, compare
from alignsim.errors import CompositionError, PluginError
from alignsim.validation import Refusal


def case(key: str = "a", predicted: Any = None, **measured: Any) -> Case:
    told = {"measured_peak": 1000.0, **measured}
    return Case(key=key, predict=lambda: {"update": 1000.0} if predicted is None else predicted, **told)


def test_a_row():
    measured = {"rollout": 500.0, "update": 1000.0, "load": 3.0}
    found = case(predicted={"rollout": 505, "update": 990.0}, measured_phase="update", measured_phases=measured)
    row = compare([found]).rows[0]
    assert (row.predicted, row.measured, row.phase, row.measured_phase) == (990.0, 1000.0, "update", "update")
    assert row.error == pytest.approx(-0.01)
    assert row.phase_errors == pytest.approx({"rollout": 0.01, "update": -0.01})
    assert row.to_dict()["phases"]["rollout"] == {
        "predicted": 505,
        "measured": 500.0,
        "error": row.phase_errors["rollout"],
    }


@pytest.mark.parametrize(
    ("phase", "measured", "agrees"),
    [
        ("update", {}, True),
        ("score", {"update": 995.0}, True),
        ("score", {"update": 994.0}, False),
        ("score", {}, False),
    ],
)
def test_a_phase_is_right_or_as_good_as(phase: str, measured: dict[str, float], agrees: bool):
    assert compare([case(measured_phase=phase, measured_phases=measured)]).rows[0].phase_agrees is agrees


def test_nobody_judges_a_phase_that_was_not_measured():
    comparison = compare([case()])
    assert comparison.rows[0].phase_agrees is None
    assert comparison.summary.phase_right is None
    assert comparison.summary.phases_within_5_percent is None


def test_a_summary():
    cases = [
        case("a", {"update": 1000.0}, measured_phase="update", measured_phases={"update": 1000.0}),
        case("b", {"update": 1009.0}, measured_phase="score", measured_phases={"update": 900.0}),
        case("c", {"update": 800.0}),
    ]
    summary = compare(cases).summary
    assert (summary.rows, summary.refused) == (3, 0)
    assert summary.median_error == pytest.approx(0.009)
    assert summary.within_1_percent == pytest.approx(2 / 3)
    assert summary.worst_key == "c"
    assert summary.worst_error == pytest.approx(-0.2)
    assert summary.phase_right == 0.5
    assert (summary.phases, summary.phases_within_5_percent) == (2, 0.5)
    assert summary.rows_with_all_phases_within_5_percent == 0.5
    assert summary.worst_phase_key == "b update"


@pytest.mark.parametrize("error", [CompositionError("no"), UnknownName("model", "x"), InvalidInput("no")])
def test_what_is_refused_is_listed(error: Exception):
    def refuse() -> Any:
        raise error

    comparison = compare([case(), Case(key="b", measured_peak=1.0, predict=refuse)])
    assert [(r.key, r.message) for r in comparison.refused] == [("b", str(error))]
    assert (comparison.summary.rows, comparison.summary.refused) == (1, 1)
    assert comparison.exceeds(1.0)
    assert comparison.to_dict()["refused"] == [{"key": "b", "message": str(error), "wrong": False}]
    assert not comparison.wrong


def test_a_row_that_is_no_case_is_refused():
    comparison = compare([case(), Refusal("b", "no peak", wrong=True)])
    assert [(r.key, r.message) for r in comparison.refused] == [("b", "no peak")]
    assert comparison.wrong
    with pytest.raises(InvalidInput, match="a: is the key of two cases"):
        compare([case(), Refusal("a", "no peak")])


def test_a_peak_is_not_below_its_own_phases():
    with pytest.raises(InvalidInput, match=r"k\.measured_peak: is less than one of its own phases has"):
        Case(key="k", measured_peak=10.0, measured_phases={"update": 11.0}, predict=dict)


def test_all_refused():
    def refuse() -> Any:
        raise InvalidInput("no")

    summary = compare([Case(key="b", measured_peak=1.0, predict=refuse)]).summary
    assert (summary.rows, summary.median_error, summary.worst_key, summary.within_1_percent) == (0, None, None, None)


def test_the_largest_error_that_is_allowed():
    comparison = compare([case(predicted={"update": 1050.0})])
    assert comparison.exceeds(0.04)
    assert not comparison.exceeds(0.06)


@pytest.mark.parametrize("wrong", [{}, {"update": float("nan")}, {"update": "1"}, {"update": True}])
def test_a_prediction_that_is_none_is_the_plugins_fault(wrong: Any):
    with pytest.raises(PluginError, match="the prediction of a"):
        compare([case(predicted=wrong)])


@pytest.mark.parametrize("bytes_", [0, -1.0, float("nan"), float("inf"), "1 GiB", None, True])
def test_measurements_are_numbers_above_0(bytes_: Any):
    with pytest.raises(InvalidInput, match=r"a\.measured_peak: expected bytes"):
        case(measured_peak=bytes_)
    with pytest.raises(InvalidInput, match=r"a\.measured_phases\.update: expected bytes"):
        case(measured_phases={"update": bytes_})


def test_no_case_and_the_same_case_twice():
    with pytest.raises(InvalidInput, match="nothing to compare"):
        compare([])
    with pytest.raises(InvalidInput, match="a: is the key of two cases"):
        compare([case(), case()])
