"""Who is where in which phase of a framework's loop: weights and the rest of the states, by hand.

One row a framework and way; each says what a device has of the policy and of the critic while something is generated,
handed over, scored and trained, in shares of the model.
"""

from __future__ import annotations

import re
from typing import Any

import attrs
import pytest

from alignsim import Batch, Layout, Place, Result, Scenario

MODEL, DEVICES = "Llama-3.1-8B", 8
WEIGHTS = ("held_weights", "loaded_weights", "served_weights")
REST = ("master_weights", "optimizer_state", "standing_gradients", "standing_bucket", "held_gradients")
GENERATION, SYNC = "rollout:generator/decode", "sync:policy/sync"
UPDATE, SCORE = "update:policy/optimizer_step", "score:policy/forward_layers"
OFFLOADED = {f"{role}.offloads_{what}": 1 for role in ("policy", "critic") for what in ("parameters", "optimizer")}
SAME_PROCESS = {"generator": Place("trainer")}
MEGATRON = {
    "layers": "megatron",
    "attention": "megatron-fused",
    "precision": "megatron-bf16",
    "optimizer": "megatron-adam",
    "packing": "packed",
    "adapter": "full",
    "recompute": "full",
    "rollout": "vllm",
    "weight_sync": "bucketed",
    "loss": "verl-megatron-b178a3c-entropy",
}


@attrs.frozen
class Loop:
    """A framework's loop, and what of the policy is on the device: bytes of weights, and whether the rest is there."""

    name: str
    fields: dict[str, Any]
    weights: float
    generating: tuple[float, bool]
    syncing: tuple[float, bool]
    scoring: tuple[float, bool]
    pool_in_sync: bool = False
    pool_in_score: bool = False


GRPO = {"algorithm": "GRPO-No-KL"}
PPO = {"algorithm": "PPO", "models": dict.fromkeys(("policy", "critic", "reward"), MODEL)}
TRL = {"preset": "trl", **GRPO, "places": SAME_PROCESS}
ZERO_3, FSDP = 2 / DEVICES, 4 / DEVICES
LOOPS = (
    Loop(
        "TRL, colocated",
        {**TRL, "components": {"engine": "zero-3", "rollout": "vllm-awake"}},
        ZERO_3,
        (1, True),
        (1, True),
        (1, True),
        pool_in_sync=True,
        pool_in_score=True,
    ),
    Loop(
        "TRL, colocated with sleep",
        {**TRL, "components": {"engine": "zero-3", "rollout": "vllm"}},
        ZERO_3,
        (1, True),
        (1, True),
        (1, True),
    ),
    Loop(
        "verl, param_offload and optimizer_offload",
        {"preset": "verl-2026.01", **PPO, "givens": OFFLOADED},
        FSDP,
        (0, False),
        (1, False),
        (1, False),
    ),
    Loop("verl", {"preset": "verl-2026.01", **PPO}, FSDP, (1, True), (1, True), (1, True)),
    Loop(
        "OpenRLHF, all colocated, with sleep",
        {
            "preset": "openrlhf",
            **PPO,
            "components": {
                "engine": "zero-3",
                "policy.engine": "zero-3-sleeping",
                "critic.engine": "zero-3-sleeping",
                "reference.engine": "zero-inference",
                "reward.engine": "zero-inference",
                "rollout": "vllm",
            },
        },
        ZERO_3,
        (1, False),
        (1, False),
        (1, False),
    ),
    Loop(
        "NeMo-RL, colocated",
        {"preset": "nemo-rl", **GRPO, "givens": {"policy.offloads_optimizer": 1}},
        FSDP,
        (0, False),
        (1, False),
        (1, False),
    ),
    Loop(
        "verl with Megatron, param_offload, grad_offload and optimizer_offload",
        {
            **GRPO,
            "components": {**MEGATRON, "engine": "megatron-offloading"},
            "layout": Layout(tensor=DEVICES),
        },
        2 / DEVICES,
        (0, False),
        (1, False),
        (1, False),
    ),
)


def run(loop: Loop) -> Result:
    batch = Batch(micro_batch=1, sequence_tokens=2048, prompt_tokens=512, rollout_sequences=64, rollout_tokens=2048)
    fields = {
        "models": {"policy": MODEL},
        "layout": Layout(data=DEVICES),
        "accelerator": "H100-SXM5-80GB",
        **loop.fields,
    }
    fields["givens"] = {"generator.gpu_memory_utilization": 0.5, **fields.get("givens", {})}
    result: Result = Scenario(batch=batch, **fields).result
    return result


def held(result: Result, event: str, role: str, names: tuple[str, ...]) -> float:
    terms = result.bindings(f"{event}.allocated")[0].terms
    return sum(size for term, size in terms if re.match(rf"{role}\b", term) and term.endswith(names))


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.name)
def test_the_policys_states(loop):
    result = run(loop)
    whole = loop.weights * result.value(f"{{{MODEL}}}.parameters")
    for event, (weights, rest) in ((GENERATION, loop.generating), (SYNC, loop.syncing), (SCORE, loop.scoring)):
        assert held(result, event, "policy", WEIGHTS) == pytest.approx(weights * whole, rel=0.01), event
        assert (held(result, event, "policy", REST) > 0) == rest, event
    assert held(result, UPDATE, "policy", WEIGHTS) == pytest.approx(whole, rel=0.01)
    assert held(result, UPDATE, "policy", REST) > 0


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.name)
def test_the_engines_weights_and_pool(loop):
    result = run(loop)
    pool = ("kv_cache_per_device",)
    assert held(result, GENERATION, "generator", WEIGHTS) > 0 < held(result, GENERATION, "generator", pool)
    assert held(result, SYNC, "generator", WEIGHTS) > 0
    assert (held(result, SYNC, "generator", pool) > 0) == loop.pool_in_sync
    assert (held(result, SCORE, "generator", pool) > 0) == loop.pool_in_score
    assert (held(result, SCORE, "generator", WEIGHTS) > 0) == loop.pool_in_score


@pytest.mark.parametrize(
    ("name", "there"),
    [("verl, param_offload and optimizer_offload", 0), ("verl", 16), ("OpenRLHF, all colocated, with sleep", 2)],
)
def test_each_others_states_in_the_two_updates(name, there):
    """Bytes a parameter of the one that does not train: nothing, all, or the 16-bit shards."""
    (loop,) = (loop for loop in LOOPS if loop.name == name)
    result = run(loop)
    for idle, event in (("policy", "update:critic/optimizer_step"), ("critic", UPDATE)):
        parameters = result.value(f"{idle}.weights") / (FSDP * DEVICES if there != 2 else 2)
        expected = min(there, 12) * parameters / DEVICES  # gradients of who does not train are gone
        assert held(result, event, idle, (*WEIGHTS, *REST)) == pytest.approx(expected, rel=0.01)


def test_references_are_swapped_in_streamed_or_sharded():
    worker = {"components": {"reward.engine": "fsdp1-cpu-offload"}}  # verl's own, not an engine that serves it
    sharded, streamed = run(LOOPS[4]), run(attrs.evolve(LOOPS[2], fields={**LOOPS[2].fields, **worker}))
    parameters = sharded.value(f"{{{MODEL}}}.parameters")
    for role in ("reference", "reward"):
        event = f"score:{role}/forward_layers"
        assert held(streamed, event, role, WEIGHTS) == 0
        assert held(sharded, event, role, WEIGHTS) == pytest.approx(2 * parameters / DEVICES, rel=0.1)


def test_a_reference_under_megatron_takes_the_policys_place():
    fields = LOOPS[6].fields
    choices = {**fields["components"], "reference.engine": "megatron-swapped-weights"}
    result = run(attrs.evolve(LOOPS[6], fields={**fields, "algorithm": "GRPO", "components": choices}))
    event = "score:reference/forward_layers"
    shard = 2 * result.value(f"{{{MODEL}}}.parameters") / DEVICES
    assert held(result, event, "reference", WEIGHTS) == 0
    assert result.value(f"{event}.host") - result.value("update:policy/forward_layers.host") > shard


def test_what_sleeps_is_on_the_host():
    result = run(LOOPS[4])
    policy, critic = (result.value(f"{role}.sleeping_states") for role in ("policy", "critic"))
    engine = result.value("generator.served_weights")
    assert result.value("score:policy/forward_layers.host") == policy + critic + engine
    assert result.value("update:policy/forward_layers.host") == critic + engine
    assert result.value("update:critic/forward_layers.host") == policy + engine


def test_weights_that_are_dropped_are_not_on_the_host():
    fields = LOOPS[4].fields
    dropped = run(attrs.evolve(LOOPS[4], fields={**fields, "givens": {"generator.sleep_level": 2}}))
    policy, critic = (dropped.value(f"{role}.sleeping_states") for role in ("policy", "critic"))
    assert dropped.value("score:policy/forward_layers.host") == policy + critic
