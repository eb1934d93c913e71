"""A number of one phase, and all that follows from it there and nowhere else."""

from __future__ import annotations

import attrs
import pytest

from alignsim import Activity, Algorithm, Collect, Component, Slot, Stage, at, default_registry, term
from alignsim.errors import CompositionError, InvalidInput, UnusedInput
from alignsim.given import given
from alignsim.testing.presets import completed
from small_graphs import graph_of, parts_of, terms_of, values_of, written

SCORE, TRAIN = Activity("infer", ("forward",)), Activity("train", ("forward", "step"))
LOOP = Algorithm(name="LOOP", phases={"score": {"policy": SCORE, "judge": SCORE}, "update": {"policy": TRAIN}})
BATCH = terms_of("tokens(rows, length) = rows * length", "rows(batch) = batch * 2", per={"role"})
(SEEN,) = terms_of(
    "seen(tokens, one) = tokens * 10 * one",
    unit="byte",
    per={"role", "phase"},
    during={"infer", "train"},
    resource="device",
    live=at("forward"),
)
(HELD,) = terms_of("held(tokens, one) = tokens * one", unit="byte", per={"role"}, resource="device", live=at("forward"))
NUMBERS = {"batch": 3, "length": 5, "one": given("1 B", "byte")}


def values(*terms, algorithm=LOOP, **givens):
    return values_of(graph_of(*terms, algorithm=algorithm, givens={**NUMBERS, **givens}))


def test_a_number_of_a_phase_is_for_that_phase_alone():
    found = values(*BATCH, SEEN, **{"score:policy.batch": 7})
    assert found["score:policy.rows"] == 14
    assert found["score:policy.tokens"] == 70
    assert found["score:policy.seen"] == 700
    assert found["update:policy.seen"] == found["score:judge.seen"] == 10 * 3 * 2 * 5
    assert found["score:policy/forward.device"] == 700
    assert found["update:policy/forward.device"] == 300


def test_without_an_owner_it_is_for_every_role_of_the_phase():
    found = values(*BATCH, SEEN, **{"score:batch": 7})
    assert found["score:policy.seen"] == found["score:judge.seen"] == 700
    assert found["update:policy.seen"] == 300


def test_a_number_of_a_role_is_nearer_than_one_of_a_phase():
    found = values(*BATCH, SEEN, **{"score:batch": 7, "policy.batch": 1})
    assert (found["score:policy.seen"], found["score:judge.seen"], found["update:policy.seen"]) == (100, 700, 100)


def test_what_is_held_in_all_phases_follows_the_number_for_all():
    found = values(*BATCH, SEEN, HELD, **{"score:batch": 7})
    assert found["policy.held"] == 30
    assert "score:policy.held" not in found


@pytest.mark.parametrize("path", ["score:policy.batch", "update:policy.length"])
def test_an_equal_number_changes_nothing(path):
    plain, told = values(*BATCH, SEEN), values(*BATCH, SEEN, **{path: NUMBERS[path.rpartition(".")[2]]})
    assert {name: told[name] for name in plain} == plain


def test_a_number_that_nobody_reads_in_its_phase_is_refused():
    with pytest.raises(UnusedInput, match=r"update:judge\.batch: nothing reads this input; it is spelt batch here"):
        values(*BATCH, SEEN, **{"update:judge.batch": 7})


def test_what_a_group_adds_up_cannot_differ_in_a_phase():
    (part,) = terms_of("part(tokens) = tokens", per={"role"}, group="parts")
    source = "def whole(all_of=Collect('parts')):\n    return all_of\n"
    whole = term("", per={"role"})(written(source, "whole", Collect=Collect))
    with pytest.raises(CompositionError, match=r"score:policy\.part: is in group 'parts', which is added up for all"):
        values(*BATCH, part, whole, SEEN, **{"score:batch": 7})


def test_kinds_of_rank_have_their_own_there_too():
    stages = Component(
        name="e",
        slot=Slot(name="engine"),
        stages=(Stage("first", numbers={"part": 1}), Stage("last", numbers={"part": 3})),
    )
    rows = terms_of("rows(batch, part) = batch * part", per={"role", "stage"})
    (seen,) = terms_of(
        "seen(rows, one) = rows * one",
        unit="byte",
        per={"role", "phase", "stage"},
        resource="device",
        live=at("forward"),
    )
    alone = attrs.evolve(LOOP, phases={"score": {"policy": SCORE}, "update": {"policy": TRAIN}})
    found = values_of(
        graph_of(
            *rows,
            seen,
            algorithm=alone,
            components={"policy": {"engine": stages}},
            givens={"batch": 3, "score:batch": 7, "one": NUMBERS["one"]},
        )
    )
    assert (found["score:policy[first].seen"], found["score:policy[last].seen"]) == (7, 21)
    assert (found["update:policy[first].seen"], found["update:policy[last].seen"]) == (3, 9)


# ---- in whole runs ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def grpo():
    registry = default_registry()
    return completed(registry.presets["openrlhf-0.9"], "GRPO", {}, registry)


def test_a_larger_micro_batch_scores_more_and_trains_as_much(grpo):
    told = grpo.with_givens({"score:micro_batch": 4 * grpo.settled.batch.micro_batch})
    for phase, more in (("score", True), ("update", False)):
        before, after = (run.result.values[f"{phase}:allocated"] for run in (grpo, told))
        assert (after > before) == more
        assert after >= before


def test_a_sweep_of_it_is_what_single_runs_are(grpo):
    sizes = [1, 2, 16, 64]
    told = grpo.with_givens({"score:micro_batch": 1})
    column = told.sweep({"score:micro_batch": sizes}).answers["allocated"]
    single = [told.with_givens({"score:micro_batch": n}).result.value("allocated") for n in sizes]
    assert list(column) == single


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("score:micro_batch", 0, "must be at least 1, got 0"),
        ("score:policy.micro_batch", 1.5, "must be a whole number, got 1.5"),
        ("scores:micro_batch", 4, "no phase 'scores'; did you mean score?"),
        ("rollout:micro_batch", 4, "nothing reads this input"),
    ],
)
def test_a_wrong_one_is_told(grpo, path, value, said):
    with pytest.raises((InvalidInput, CompositionError)) as caught:
        _ = grpo.with_givens({path: value}).result.peak
    assert f"{path}: {said}" in str(caught.value)


def test_parts_that_say_nothing_of_phases_have_no_copies():
    from alignsim.by_phase import by_phase
    from alignsim.numbers import numbers
    from alignsim.placing import place

    parts = parts_of(*BATCH, SEEN, algorithm=LOOP, givens=NUMBERS)
    placed = place(parts)
    assert by_phase(parts, placed, numbers(parts, placed)) == {}
