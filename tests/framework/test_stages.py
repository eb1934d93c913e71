"""Kinds of rank with numbers of their own, and slots that only some of them hold."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Component, Const, Slot, Stage, always, term
from alignsim.compose import compose
from alignsim.given import given
from alignsim.parts import Parts
from alignsim.plan import Plan
from alignsim.result import Result
from alignsim.sweep import sweep
from small_graphs import DEVICE, LONE

ENGINE, LOSS = Slot(name="engine"), Slot(name="loss")


@term("", per={"role", "stage"})
def has_head(ends, pipeline):
    """1 where the head is."""
    return 1 * (ends + (pipeline <= 1) > 0)


@term("", per={"role"})
def has_last(pipeline):
    """1 if there is another stage than the first."""
    return 1 * (pipeline > 1)


@term("byte", per={"role", "stage"}, resource="device", live=always)
def layers(ends, pipeline, layer_size=Const(10, "byte")):
    """The last has fewer."""
    return layer_size * (8 - 4 * ends) / pipeline


@term("byte", per={"role"}, resource="device", live=always)
def logits(logit_size=Const(7, "byte")):
    """Of the rank with the head."""
    return logit_size


STAGES = (
    Stage("first", numbers={"ends": 0}, holds={"loss": "has_head"}),
    Stage("last", present="has_last", numbers={"ends": 1}, holds={"loss": "has_head"}),
)
PIPELINE = Component(name="pipeline", slot=ENGINE, terms=(has_head, has_last, layers), stages=STAGES)
HEAD = Component(name="head", slot=LOSS, terms=(logits,))


def graph(pipeline, engine=PIPELINE):
    return compose(
        Parts(
            algorithm=LONE,
            components={"policy": {"engine": engine, "loss": HEAD}},
            resources={"device": DEVICE},
            facts={"pipeline": given(pipeline)},
        )
    )


def peak(pipeline):
    made = graph(pipeline)
    return Plan.of(made, ["device"]).evaluate()["device"]


def test_a_kind_reads_its_own_numbers():
    made = graph(2)
    values = Plan.of(made, ["policy[first].layers", "policy[last].layers"]).evaluate()
    assert list(values.values()) == [40, 20]


@pytest.mark.parametrize(("pipeline", "expected"), [(1, 80 + 7), (2, 40), (4, 20)])
def test_a_slot_counts_where_it_is_held(pipeline, expected):
    assert peak(pipeline) == expected


def test_the_largest_kind_may_be_the_one_that_holds_it():
    lean = Component(
        name="lean",
        slot=ENGINE,
        terms=(has_head, has_last),
        stages=STAGES,
    )
    assert Plan.of(graph(4, lean), ["device"]).evaluate()["device"] == 7


def test_a_sweep_says_the_same():
    made = graph(1)
    rows = sweep(Plan.of(made, ["device"]), {"pipeline": [1, 2, 4, 8]}).peak
    assert rows.tolist() == [peak(p) for p in (1, 2, 4, 8)]


def test_what_is_not_held_is_not_told():
    made = graph(2)
    nobody: Any = None
    result = Result(nobody, made, "device")
    told = {binding.stage: dict(binding.terms) for binding in result.bindings("device")}
    assert "policy.logits" not in told["first"]
    assert told["last"]["policy.logits"] == 7
