"""A component says how much of a number it can do with; more is refused, in one run and in a sweep."""

from __future__ import annotations

import pytest

from alignsim import Algorithm, Architecture, Component, Const, InvalidInput, Layout, Limit, Scenario, Slot, term
from alignsim.errors import CompositionError

MODEL = Architecture(name="tiny", layers=4, hidden=64, heads=8, ffn=128, vocab=100)
ALONE = Limit(2, because="two is all it can do; choose another")
BYTE = Const(1, "byte", source="test")
ENGINE = Slot(name="motor", promises={"share": "byte"}, required_for=frozenset({"infer"}))


@term("byte", per={"role"}, resource="allocated", source="test")
def share(tensor, hidden, one=BYTE):
    """Something."""
    return hidden * one / tensor


def component(**limits):
    return Component(name="two", slot=ENGINE, terms=(share,), limits=limits, source="test")


def run(tensor=1, **more):
    return Scenario(
        algorithm=Algorithm(name="Ask", phases={"ask": {"a": "infer", "b": "infer"}}, source="test"),
        models={"a": MODEL, "b": MODEL},
        components={"*": "none", **more},
        layout=Layout(tensor=tensor),
    )


def test_within_the_limit():
    assert run(2, motor=component(tensor=ALONE)).result.peak.magnitude == 64


def test_beyond_the_limit():
    with pytest.raises(
        CompositionError, match=r"tensor: must be at most 2 with motor 'two': two is all it can do; .* got 4"
    ):
        _ = run(4, motor=component(tensor=ALONE)).graph


def test_a_sweep_keeps_to_it():
    case = run(motor=component(tensor=ALONE))
    assert case.sweep(tensor=[1, 2]).peak.tolist() == [128, 64]
    with pytest.raises(InvalidInput, match="tensor: must be at most 2 with motor 'two'"):
        case.sweep(tensor=[1, 2, 4])


def test_a_limit_of_one_role_holds_for_a_number_of_all():
    one = {"a.motor": component(tensor=ALONE), "b.motor": component()}
    with pytest.raises(CompositionError, match="tensor: must be at most 2"):
        _ = run(4, **one).graph
    case = run(1, **one)
    case = case.using(layouts={"b": Layout(tensor=8)})
    assert case.result.peak.magnitude == 64 + 8


def test_of_two_limits_the_smaller_counts():
    one = {"a.motor": component(tensor=ALONE), "b.motor": component(tensor=Limit(1, because="one"))}
    with pytest.raises(InvalidInput, match="must be at most 1 with"):
        run(**one).sweep(tensor=[1, 2])


def test_a_limit_of_a_number_that_is_not_there_is_none():
    assert run(motor=component(tensr=ALONE)).result.peak.magnitude == 128
