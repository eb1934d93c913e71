"""What every algorithm's table keeps to, and that it composes with every loss path that suits it."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Architecture, Batch, Scenario, default_registry
from alignsim.algorithm import AWAY, TRAIN
from alignsim_plugins.algorithms import (
    cdpo,
    cpo,
    dapo,
    distillation,
    events,
    ipo,
    orpo,
    reinforce_plus_plus,
    rloo,
    simpo,
)
from alignsim_plugins.algorithms.dpo import DPO
from alignsim_plugins.algorithms.grpo import GRPO
from alignsim_plugins.algorithms.ppo import PPO
from small_runs import losses

REGISTRY = default_registry()
ALGORITHMS = list(REGISTRY.algorithms.values())
TRAINED = [a for a in ALGORITHMS if any("train" in a.activities(role) for role in a.roles)]
SCALAR = ("critic", "reward")
TOY = Architecture(name="toy", layers=2, hidden=64, heads=4, kv_heads=2, ffn=192, vocab=1000)


def suits(algorithm: Any, loss: str) -> bool:
    """The policy of an algorithm works with some kinds of loss path."""
    return bool(REGISTRY.component("loss", loss).kinds.intersection(algorithm.needs.get("policy.loss", ())))


def run(algorithm: Any, loss: str, **changes: Any) -> Any:
    choices: dict[str, Any] = {
        "precision": "bf16",
        "optimizer": "adamw-fused",
        "adapter": "full",
        "recompute": "full",
        "attention": "sdpa",
        "loss": loss,
        "engine": "single-device",
        "layers": "transformers",
        "packing": "equal",
        "rollout": "full-cache",
    }
    value = "trl-ppo-value" if loss == "trl-ppo" else "score"
    choices |= {f"{role}.loss": {"critic": value}.get(role, "score") for role in SCALAR if role in algorithm.roles}
    if "teacher" in algorithm.roles:
        choices["teacher.loss"] = "teacher-logits"
    scenario: Any = Scenario
    return scenario(
        algorithm=algorithm,
        models={role: TOY for role in algorithm.roles if role not in algorithm.model_of},
        components=choices,
        batch=Batch(
            micro_batch=2, sequence_tokens=64, prompt_tokens=16, rollout_sequences=4, rollout_tokens=64, **changes
        ),
    )


TABLES = {repr((a.phases, a.order, a.model_of)): a for a in reversed(ALGORITHMS)}
"""One algorithm a table: of those that share one, another test says that their memory is the same."""

PAIRS = [
    (algorithm, component.name)
    for algorithm in TABLES.values()
    for component in REGISTRY.components.values()
    if component.slot.name == "loss" and suits(algorithm, component.name)
]


@pytest.mark.parametrize(("algorithm", "loss"), PAIRS, ids=lambda item: getattr(item, "name", item))
def test_an_algorithm_composes_with_every_loss_that_suits_it(algorithm, loss):
    result = run(algorithm, loss).result
    assert result.peak > 0
    assert all(value >= 0 for value in result.values.values())


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: a.name)
def test_every_role_appears(algorithm):
    """Each role does something in some phase, and takes up memory of its own or another's weights there."""
    for role in algorithm.roles:
        assert algorithm.activities(role) - AWAY, role
    result = run(algorithm, next(iter(losses(algorithm).values()), "none")).result
    for role in algorithm.roles:
        assert result.values[f"{role}.held_weights"] > 0


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: a.name)
def test_says_where_it_is_from(algorithm):
    assert algorithm.source
    assert all(number.source for number in algorithm.numbers.values())


@pytest.mark.parametrize("algorithm", TRAINED, ids=lambda a: a.name)
def test_says_how_many_rows_and_inputs_a_sample_has(algorithm):
    said = {name.rpartition(".")[2] for name in algorithm.numbers} | {term.name for term in algorithm.terms}
    assert {"rows_per_sample", "input_bytes"} <= said


@pytest.mark.parametrize("algorithm", TRAINED, ids=lambda a: a.name)
def test_a_backward_follows_its_forward_and_a_step_its_backward(algorithm):
    for order in algorithm.order.values():
        for role in algorithm.roles:
            own = [event for event in order if event.partition(".")[0] == role]
            if f"{role}.backward_loss" in own:
                assert [event for event in own if event.partition(".")[2] in TRAIN.moments] == [
                    f"{role}.{moment}" for moment in TRAIN.moments
                ]


def test_names_are_told_apart_whatever_their_case():
    names = [algorithm.name.casefold() for algorithm in ALGORITHMS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("one", "other", "loss"),
    [
        (ipo.IPO, DPO, "trl-dpo"),
        (cdpo.CDPO, DPO, "trl-dpo"),
        (orpo.ORPO, cpo.CPO, "trl-cpo"),
        (simpo.SIMPO, cpo.CPO, "trl-cpo"),
        (rloo.RLOO, GRPO, "trl-grpo"),
        (dapo.DAPO, REGISTRY.algorithms["GRPO-No-KL"], "trl-grpo"),
    ],
    ids=lambda item: getattr(item, "name", item),
)
def test_an_equal_table_is_an_equal_memory(one, other, loss):
    assert run(one, loss).result.values == run(other, loss).result.values


def test_what_differs_from_a_table_is_a_role():
    weights = run(PPO, "trl-grpo").result.value("reward.held_weights")
    assert weights > 0
    elsewhere, shared = (REGISTRY.algorithms[name] for name in ("PPO-Reward-Elsewhere", "PPO-Shared-Backbone"))
    assert (set(PPO.roles) - set(elsewhere.roles), set(PPO.roles) - set(shared.roles)) == ({"reward"}, {"critic"})
    assert (run(PPO, "trl-grpo").result.peak - run(elsewhere, "trl-grpo").result.peak).m_as("byte") == weights
    assert dict(shared.model_of) == {"reference": "policy"}  # a reward model must be named
    assert set(reinforce_plus_plus.REINFORCE_PLUS_PLUS.roles) - set(GRPO.roles) == {"reward"}
    judged = REGISTRY.algorithms["Online-DPO-Judge"]
    assert not any("reward" in event for event in judged.order["update"])


def event_bytes(algorithm: str, loss: str, event: str, term: str) -> float:
    result = run(REGISTRY.algorithms[algorithm], loss).result
    phase = event.partition(":")[0]
    (binding,) = (b for b in result.bindings(f"{phase}:allocated") if b.event == event)
    return float(dict(binding.terms).get(term, 0.0))


def test_a_reference_runs_on_top_of_activations():
    held = "update:policy.held_activations"
    for algorithm, loss, roles in (
        ("KTO", "trl-kto", ["reference"]),
        ("Online-DPO", "naive", ["reference", "reward"]),
    ):
        for role in roles:
            assert event_bytes(algorithm, loss, f"update:{role}/forward_layers", held) > 0
    assert event_bytes("GKD", "trl-gkd", "update:teacher/forward_layers", held) > 0


def test_a_precomputed_reference_is_gone_afterwards():
    name = "reference.held_weights"
    loss = "trl-dpo"
    assert event_bytes("DPO-Precompute-Reference", loss, "precompute:reference/loss", name) > 0
    assert event_bytes("DPO-Precompute-Reference", loss, "update:policy/loss", name) == 0
    assert event_bytes("DPO", loss, "update:policy/loss", name) > 0


def test_kto_runs_other_answers_first_and_holds_nothing_of_them():
    held = "update:policy.held_activations"
    assert event_bytes("KTO", "trl-kto", "divergence:policy/loss", held) == 0
    assert event_bytes("KTO", "trl-kto", "divergence:policy/loss", "divergence:policy.inferred_logits_at_loss") > 0


def test_both_models_logits_meet_in_a_distillation():
    update = distillation.DISTILLATION.order["update"]
    assert update.index("policy.forward_head") < update.index("teacher.forward_layers") < update.index("policy.loss")
    assert update.index("policy.loss") < update.index("teacher.loss") < update.index("policy.backward_loss")


def test_short_forms():
    assert events.forward("x") + events.backward("x") == tuple(f"x.{moment}" for moment in TRAIN.moments)
    assert events.without(DPO, "reference").order["update"] == events.forward("policy") + events.backward("policy")
