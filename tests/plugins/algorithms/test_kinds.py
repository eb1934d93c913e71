"""All algorithms with all loss paths and both kinds of head: a number that somebody's code stands for, or a reason."""

from __future__ import annotations

import re
from typing import Any

import pytest

from alignsim import Algorithm, Architecture, Batch, Component, Place, Scenario, default_registry, hookimpl
from alignsim.errors import CompositionError
from alignsim_plugins.losses.slot import LOSS
from small_runs import losses

REGISTRY = default_registry()
PATHS = {c.name: c for c in REGISTRY.components.values() if c.slot.name == "loss" and c.name != "none"}
TOY = Architecture(name="toy", layers=2, hidden=64, heads=4, kv_heads=2, ffn=192, vocab=1000)
HEADS = {"vocabulary": TOY, "scalar": TOY.with_scalar_head()}
CHOICES = {
    "precision": "bf16",
    "optimizer": "adamw-fused",
    "adapter": "full",
    "recompute": "full",
    "attention": "sdpa",
    "engine": "single-device",
    "layers": "transformers",
    "packing": "equal",
    "rollout": "full-cache",
}
SCALAR = ("critic", "reward")


def run(algorithm: Algorithm, registry: Any = REGISTRY, models: Any = None, **components: Any) -> Scenario:
    own = [role for role in algorithm.roles if role not in algorithm.model_of]
    usual = {role: HEADS["scalar" if role in SCALAR else "vocabulary"] for role in own}
    return Scenario(
        algorithm=algorithm,
        models={**usual, **(models or {})},
        components={**CHOICES, **losses(algorithm, registry=registry), **components},
        batch=Batch(micro_batch=2, sequence_tokens=64, prompt_tokens=16, rollout_sequences=4, rollout_tokens=64),
        registry=registry,
    )


CELLS = [
    (algorithm, place, path)
    for algorithm in REGISTRY.algorithms.values()
    for place in algorithm.needs
    for path in PATHS.values()
]


def answer(case: Scenario) -> float | str:
    """The peak, or why there is none."""
    try:
        return float(case.result.peak.magnitude)
    except CompositionError as error:
        return str(error)


@pytest.mark.parametrize("algorithm", REGISTRY.algorithms.values(), ids=list(REGISTRY.algorithms))
def test_a_loss_path_of_another_kind_is_refused_and_one_of_the_kind_is_not(algorithm):
    for _, place, path in (cell for cell in CELLS if cell[0] is algorithm):
        found = answer(run(algorithm, **{place: path.name}))
        kinds = algorithm.needs[place]
        if path.kinds.intersection(kinds):
            assert isinstance(found, float), (place, path.name, found)
            assert found > 0
        else:
            role, wanted = place.partition(".")[0], " or ".join(kinds)
            told = f"{place}: algorithm {algorithm.name} needs as loss of {role!r} {wanted}; {path.name!r} is for"
            assert told in str(found)


@pytest.mark.parametrize("algorithm", REGISTRY.algorithms.values(), ids=list(REGISTRY.algorithms))
def test_a_scalar_head_has_no_logits(algorithm):
    for place in algorithm.needs:
        role = place.partition(".")[0]
        if role not in algorithm.model_of:
            case = run(algorithm, models={role: HEADS["scalar"]})
            found, name = answer(case), case.components[place].name
            if name in ("score", "trl-ppo-value"):
                assert isinstance(found, float)
            else:
                assert re.search("scalar_head: must be at most 0 with loss '.*': it is of a vocabulary's", str(found))


def test_every_role_with_a_loss_says_which():
    for algorithm in REGISTRY.algorithms.values():
        for role in algorithm.roles:
            told = f"{role}.loss" in algorithm.needs
            assert told == bool(LOSS.required_for & algorithm.activities(role)), (algorithm.name, role)


def test_every_kind_is_one_that_the_slot_explains():
    assert all(path.kinds and path.kinds <= set(LOSS.kinds) for path in PATHS.values())
    asked = {kind for a in REGISTRY.algorithms.values() for kinds in a.needs.values() for kind in kinds}
    assert asked == set(LOSS.kinds)


def test_others_bring_kinds_of_their_own():
    turns = Algorithm(
        name="Turns", phases={"update": {"policy": "train"}}, needs={"policy.loss": "turns"}, source="test"
    )
    naive = PATHS["naive"]
    path = Component(
        name="by-turn",
        slot=LOSS,
        terms=naive.terms,
        defaults=naive.defaults,
        kinds={"turns", "log-probabilities of pairs"},
        source="test",
    )

    class Plugin:
        @hookimpl
        def alignsim_algorithms(self):
            yield turns

        @hookimpl
        def alignsim_components(self):
            yield path

    registry = REGISTRY.with_plugins(Plugin())
    case = run(turns, registry, **{"policy.loss": "by-turn"})
    assert case.result.peak.magnitude > 0
    both = dict.fromkeys(("policy.loss", "reference.loss"), "by-turn")
    assert run(registry.algorithms["DPO"], registry, **both).result.peak.magnitude > 0
    with pytest.raises(CompositionError, match="needs as loss of 'policy' turns; 'naive' is for log-prob"):
        _ = run(turns, registry, **{"policy.loss": "naive"}).result


def test_a_filling_that_says_nothing_is_taken_as_told():
    silent = Component(name="silent", slot=LOSS, terms=PATHS["naive"].terms, defaults=PATHS["naive"].defaults)
    assert run(REGISTRY.algorithms["GRPO-No-KL"], **{"policy.loss": silent}).result.peak.magnitude > 0


def shared(engine="same-weights", **changes):
    return run(REGISTRY.algorithms["DPO"], **{"reference.engine": engine, **changes})


@pytest.mark.parametrize("adapter", ["lora", "qlora", "dora"])
def test_a_reference_is_the_policy_without_its_adapters(adapter):
    case = run(REGISTRY.algorithms["DPO"], **{"reference.engine": "same-weights", "adapter": adapter})
    assert case.result.value("policy.held_weights") > 0
    assert "reference.held_weights" not in case.result.values


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, "engine 'same-weights' needs as adapter of 'policy' adapters; 'full' is for every parameter"),
        (
            {"adapter": "lora", "engine": "fsdp2"},
            "as engine of 'policy' weights whole .*; 'fsdp2' is for weights",
        ),
        ({"adapter": "lora", "models": {"reference": HEADS["scalar"]}}, "'reference' has another model than 'policy'"),
        ({"adapter": "lora", "policy.engine": "same-weights"}, "'policy' runs no other role's model"),
        ({"adapter": "lora", "places": {"reference": Place("other")}}, "'reference' is not where 'policy' is"),
        ({"reference.engine": "fsdp2-same-weights", "adapter": "lora"}, "as engine of 'policy' weights gathered"),
        (
            {"reference.engine": "fsdp1-same-weights", "adapter": "lora", "engine": "fsdp2"},
            "of 'policy' flat parameters",
        ),
    ],
)
def test_weights_that_nobody_holds_as_they_were_are_refused(changes, why):
    places = changes.pop("places", {})
    case = run(REGISTRY.algorithms["DPO"], **{"reference.engine": "same-weights", **changes}).using(places=places)
    with pytest.raises(CompositionError, match=why):
        _ = case.result
