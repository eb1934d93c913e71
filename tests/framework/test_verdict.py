"""Fits, does not fit, close call: ends of a range against the least and the usual that there is."""

from __future__ import annotations

import pytest

from alignsim import Algorithm, Const, Place, Resource, Result, always, at, term
from alignsim.component import Component, Slot
from alignsim.errors import CompositionError
from alignsim.given import given
from alignsim.verdict import causes
from small_graphs import INFER, PAIR, TRAIN, formula, graph_of, written

ROOM = Resource(name="space", unit="byte", capacity=("room", "all_of_it"))
SOURCE = "test"


def question(*terms, room=("90 B", "100 B"), resources=None, facts=None, **fields):
    least, usual = room
    facts = facts or {"@gpus.room": given(usual, "byte", low=least)}
    graph = graph_of(*terms, resources=resources or {"space": ROOM}, facts=facts, **fields)
    return Result(None, graph, "space")  # type: ignore[arg-type]


def holder(low, expected, high, name="weights", live=always):
    source = f"def {name}({name}_size=Const({expected!r}, 'byte', low={low!r}, high={high!r}, source='paper')):\n"
    made = written(source + f"    return {name}_size\n", name, Const=Const)
    return term("byte", per={"role"}, resource="space", live=live, source=SOURCE)(made)


@pytest.mark.parametrize(
    ("low", "expected", "high", "status", "fits"),
    [
        ("10 B", "50 B", "90 B", "fits", True),
        ("10 B", "50 B", "91 B", "close call", None),
        ("95 B", "95 B", "95 B", "close call", None),
        ("10 B", "100 B", "200 B", "close call", None),
        ("10 B", "101 B", "200 B", "does not fit", False),
    ],
)
def test_the_ends_against_what_there_is(low, expected, high, status, fits):
    verdict = question(holder(low, expected, high)).verdict
    assert (verdict.status, verdict.fits) == (status, fits)
    (judged,) = verdict.judged
    assert [f"{end:g} B" for end in (judged.low, judged.expected, judged.high)] == [low, expected, high]
    assert (judged.least, judged.usual, judged.pool) == (90, 100, "gpus")
    assert judged.binding.terms == (("policy.weights", judged.expected),)


def test_nothing_is_said_where_nothing_is_known():
    assert question(holder("1 B", "2 B", "3 B"), facts={"other": given(1)}).verdict is None


def test_the_first_number_that_is_known_counts():
    result = question(holder("1 B", "2 B", "3 B"), facts={"@gpus.all_of_it": given("2 B", "byte")})
    assert (result.verdict.status, result.verdict.judged[0].least) == ("close call", 2)


def test_every_pool_is_judged_and_the_worst_counts():
    facts = {"@gpus.room": given("100 B", "byte"), "@spare.room": given("5 B", "byte")}
    places = {"reference": Place("server", "spare")}
    verdict = question(holder("6 B", "6 B", "6 B"), algorithm=PAIR, places=places, facts=facts).verdict
    assert {judged.pool: judged.status for judged in verdict.judged} == {"gpus": "fits", "spare": "does not fit"}
    assert verdict.status == "does not fit"


def test_causes_are_the_numbers_with_a_range_by_what_they_do():
    small = holder("1 B", "2 B", "4 B", "small")
    large = holder("10 B", "20 B", "60 B", "large", at("forward"))
    hidden = holder("1 B", "3 B", "5 B", "hidden", at("backward_end"))
    result = question(small, large, hidden)
    found = causes(result, "space")
    assert [(cause.path, cause.less, cause.more) for cause in found] == [("large_size", 10, 40), ("small_size", 1, 2)]
    assert found[0].source == "paper"


def conditional(expected, low=None, high=None):
    ends = f", low={low!r}, high={high!r}" if low is not None else ""
    source = f"def spare(room, needed=Const({expected!r}, 'byte'{ends}, source='paper')):\n    return room - needed\n"
    made = written(source, "spare", Const=Const)
    return term("byte", per={"role"}, condition="a sequence fits", source=SOURCE)(made)


@pytest.mark.parametrize(
    ("needed", "status", "margin"),
    [
        (("100 B",), "fits", 0),
        (("101 B",), "does not fit", -1),
        (("95 B", "90 B", "120 B"), "close call", 5),
    ],
)
def test_conditions_are_part_of_the_verdict(needed, status, margin):
    verdict = question(holder("1 B", "1 B", "1 B"), conditional(*needed), room=("100 B", "100 B")).verdict
    (met,) = verdict.conditions
    assert (met.path, met.message, met.status, met.margin) == ("policy.spare", "a sequence fits", status, margin)
    assert verdict.status == status
    assert verdict.judged[0].status == "fits"


def test_a_condition_takes_nothing_up():
    with pytest.raises(CompositionError, match="is a condition, and takes up nothing"):
        term("byte", resource="space", condition="never")(formula("f", "x", "x"))


def test_slots_filled_with_nothing_leave_the_verdict_open():
    slot = Slot(name="loss", promises={"logits": "byte"}, required_for=frozenset({"train"}))
    verdict = question(holder("1 B", "1 B", "1 B"), components={"policy": {"loss": slot.none}}).verdict
    assert (verdict.status, verdict.fits) == ("fits so far", None)
    idle = Slot(name="rollout", promises={"kv_cache": "byte"}, required_for=frozenset({"generate"}))
    unneeded = question(holder("1 B", "1 B", "1 B"), components={"policy": {"rollout": idle.none}})
    assert unneeded.verdict.status == "fits"
    filled = Component(name="one", slot=Slot(name="loss"))
    assert question(holder("1 B", "1 B", "1 B"), components={"policy": {"loss": filled}}).verdict.status == "fits"


def test_as_plain_data():
    result = question(
        holder("1 B", "2 B", "3 B"), algorithm=Algorithm(name="A", phases={"u": {"policy": TRAIN, "other": INFER}})
    )
    told = result.verdict.to_dict()
    assert (told["status"], told["fits"], told["lengths"]) == ("fits", True, {"real": False})
    (judged,) = told["judged"]
    assert (judged["least"], judged["usual"], judged["unit"]) == (90, 100, "byte")
    assert judged["binding"]["terms"] == {"policy.weights": 2.0, "other.weights": 2.0}
    assert judged["causes"] == [{"path": "weights_size", "less": 2.0, "more": 2.0, "source": "paper"}]


def test_measured_lengths_are_told_beside_the_configured_ones():
    source = "def tokens_held(sequence_tokens, each):\n    return sequence_tokens * each\n"
    made = term("byte", per={"role"}, resource="space", source=SOURCE)(written(source, "tokens_held"))
    facts = {"@gpus.room": given("90 B", "byte"), "sequence_tokens": given(200)}
    numbers = {"each": given("1 B", "byte")}
    configured = question(made, facts=facts, givens=numbers).verdict
    assert (configured.status, configured.lengths) == ("does not fit", (("sequence_tokens", 200.0),))
    assert (configured.real_lengths, configured.judged[0].configured) == (False, None)
    measured = {**numbers, "sequence_tokens": given(50, source="our data", obtained="measured")}
    real = question(made, facts=facts, givens=measured).verdict
    assert (real.status, real.real_lengths) == ("fits", True)
    assert (real.judged[0].expected, real.judged[0].configured) == (50, 200)
