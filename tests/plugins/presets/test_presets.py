"""Runs under each framework's defaults, against counts by hand; engines of a user's own go with them."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Batch, InvalidInput, Layout, Scenario, default_registry
from alignsim.testing import MODELS

REGISTRY = default_registry()
SIZES: dict[str, Any] = {
    "micro_batch": 2,
    "sequence_tokens": 96,
    "prompt_tokens": 32,
    "rollout_tokens": 96,
    "rollout_sequences": 4,
}
SAID: dict[str, dict[str, str]] = {
    "torchtitan": {"recompute": "full"},
    "deepspeed-chat-0.9": {
        "engine": "zero-3",
        "attention": "sdpa",
        "policy.loss": "openrlhf-3c3be62",
        "reference.loss": "openrlhf-3c3be62",
    },
    "colossalchat-0.4": {"attention": "flash", "engine": "colossalai-zero-2"},
}
"""What a preset asks for, as its ``asks`` say."""


def run(preset, algorithm, said=None, **more):
    table = REGISTRY.algorithms[algorithm]
    own = [role for role in table.roles if role not in table.model_of]
    heads = {role: MODELS["scoring" if role in table.scalar_heads else "plain"] for role in own}
    components = {**(SAID.get(preset, {}) if said is None else said)}
    components = {p: c for p, c in components.items() if p.rpartition(".")[0] in ("", *table.roles)}
    if algorithm in ("SFT", "RM"):
        components = {place: name for place, name in components.items() if not place.endswith(".loss")}
    return Scenario(
        algorithm=algorithm,
        models=heads,
        preset=preset,
        components=components,
        layout=Layout(data=2),
        batch=Batch(**SIZES),
        accelerator="H100-SXM5-80GB",
        **more,
    )


def told(preset, algorithm, said):
    """Return why a run is refused; empty if it is answered. A reason is well, a gap in the preset is not."""
    try:
        _ = run(preset, algorithm, said).result
    except InvalidInput as error:
        return str(error)
    return ""


@pytest.mark.parametrize("preset", REGISTRY.presets)
@pytest.mark.parametrize("adapter", ["full", "lora"])
@pytest.mark.parametrize("engine", ["fsdp1", "fsdp2", "zero-2", "zero-3"])
def test_engines_of_a_users_own_go_with_it(preset, adapter, engine):
    for algorithm in REGISTRY.presets[preset].algorithms:
        assert "unfilled" not in told(preset, algorithm, {**SAID.get(preset, {}), "adapter": adapter, "engine": engine})


def llama(preset, algorithm, said=None, **layout):
    return Scenario(
        algorithm=algorithm,
        models={"policy": "Llama-3.1-8B"},
        preset=preset,
        components=said or {},
        layout=Layout(**layout),
        batch=Batch(**SIZES),
        accelerator="H100-SXM5-80GB",
    )


def bytes_a_parameter(asked, *paths):
    return sum(asked.result.value(path) for path in paths) / asked.result.value("{Llama-3.1-8B}.parameters")


STATES = ("policy.held_weights", "policy.held_optimizer_state")


def test_verl_steps_32_bit_shards_for_each_tensor():
    asked = llama("verl-2026.01", "GRPO-No-KL", {"rollout": "none"}, data=2)
    assert bytes_a_parameter(asked, *STATES) == pytest.approx(12 / 2, rel=1e-6)
    at_step = asked.result.value("update:policy/optimizer_step.allocated") / asked.result.value(
        "{Llama-3.1-8B}.parameters"
    )
    assert at_step == pytest.approx(20 / 2, rel=1e-3), "4 + 8 of states, 4 of gradients, 4 of the foreach step"


def test_trl_alone_is_autocast_over_32_bits():
    asked = llama("trl-1.16", "SFT", data=1)
    assert bytes_a_parameter(asked, *STATES) == pytest.approx(12)
    assert asked.settled.components["recompute"].name == "full"


def test_trl_under_zero_3_is_18_bytes_over_the_ranks():
    asked = llama("trl-1.16", "SFT", {"engine": "zero-3"}, data=8)
    states = (*STATES, "policy.held_master_weights", "policy.standing_gradients")
    assert bytes_a_parameter(asked, *states) == pytest.approx(16 / 8, rel=1e-3)


def test_openrlhf_copies_its_reference_unless_training_is_of_stage_3():
    engines = {
        stage: llama("openrlhf", "DPO", {"engine": stage}, data=8).settled.components["reference.engine"].name
        for stage in ("zero-2", "zero-3")
    }
    assert engines == {"zero-2": "zero-replica", "zero-3": "zero-inference"}


def test_nemo_rl_keeps_its_reference_on_the_host():
    asked = llama("nemo-rl", "GRPO", {"rollout": "none"}, data=8)
    assert asked.settled.components["reference.engine"].name == "fsdp2-swapped-weights"
    assert "reference.held_weights" not in asked.result.values


def test_deepspeed_chat_fetches_less_ahead():
    asked = run("deepspeed-chat", "SFT", {"engine": "zero-3"})
    assert asked.settled.givens["policy.max_live_parameters"].value == 3e7


def test_llama_factory_trains_adapters_of_rank_8():
    asked = llama("llama-factory", "SFT", data=1)
    assert asked.settled.givens["lora_rank"].value == 8
    assert asked.settled.components["adapter"].name == "lora"
