"""What a trainer holds while it hands weights over, by hand, and that it gives that back before the pool is taken."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Batch, Layout, Scenario

BATCH: dict[str, Any] = {
    "micro_batch": 2,
    "sequence_tokens": 512,
    "prompt_tokens": 128,
    "rollout_tokens": 512,
    "rollout_sequences": 16,
}
FP32 = 4
VERL = {"preset": "verl-2026.01", "algorithm": "GRPO-No-KL"}


def run(model="Qwen2.5-7B", **more):
    fields = {**VERL, "models": {"policy": model}, "layout": Layout(data=8), "accelerator": "H100-SXM5-80GB", **more}
    return Scenario(batch=Batch(**BATCH), **fields).result


def test_fsdp1_gathers_layers_to_cut_new_shards_and_keeps_its_root():
    result = run()
    parameters, layer = (result.value(f"{{Qwen2.5-7B}}.{name}") for name in ("parameters", "layer_parameters"))
    root = 2 * 152064 * 3584 + 3584
    assert result.value("policy.sync_buffers") == FP32 * (parameters / 8 + root + layer) + 2 * 2**30


def test_fsdp2_hands_over_one_parameter_after_the_other():
    result = run(components={"engine": "fsdp2"})
    assert result.value("policy.sync_buffers") == FP32 * 152064 * 3584 + 2 * 2**30


def test_what_was_held_is_given_back_before_the_engine_takes_its_pool():
    result = run()
    sync, rollout = (result.value(f"{event}.reserved") for event in ("sync:policy/sync", "rollout:generator/prefill"))
    held, pool = result.value("policy.sync_buffers"), result.value("generator.kv_cache_per_device")
    largest = result.value("generator.largest_forward")
    assert rollout - sync == pytest.approx(pool + largest - held, rel=0.05)


def test_trls_ppo_gathers_its_value_model_too():
    models = {"policy": "Qwen2.5-7B", "critic": "Qwen2.5-1.5B", "reward": "Qwen2.5-1.5B"}
    said = {"engine": "zero-3", "recompute": "full"}
    result = run(preset="trl-0.19", algorithm="TRL-PPO", models=models, components=said)
    names = ("gathered_for_generation", "value_gathered_for_generation")
    policy, value = (result.value(f"policy.{name}") for name in names)
    assert policy == 2 * result.value("{Qwen2.5-7B}.parameters")
    assert value == result.value("critic.weights") > 2 * 1.5e9


def test_adapters_go_layer_by_layer_or_are_merged_into_gathered_weights():
    adapters = {"adapter": "lora"}
    layered = run(components={**adapters, "weight_sync": "adapters-by-layer"})
    assert layered.value("policy.sync_buffers") == FP32 * layered.value("{Qwen2.5-7B}.layer_parameters")
    merged = run(
        preset="trl",
        algorithm="GRPO",
        components={**adapters, "engine": "zero-3", "rollout": "vllm", "weight_sync": "merged-model"},
    )
    delta = 2 * 3584 * 18944 * merged.value("policy.adapter_bytes")
    assert merged.value("policy.sync_buffers") == 2 * merged.value("{Qwen2.5-7B}.parameters") + delta


def test_tensor_ranks_parts_are_gathered_and_joined():
    choices = {"engine": "megatron", "weight_sync": "tensor-ranks-bucketed"}
    spread = run(components=choices, layout=Layout(tensor=4, data=2))
    vocabulary = spread.value("policy.vocab") * 4
    assert spread.value("policy.sync_buffers") == 2 * 2 * vocabulary * 3584 + 2 * 2**30
    whole = run(components=choices)
    assert whole.value("policy.sync_buffers") == 2 * 2**30


@pytest.mark.parametrize(
    ("way", "source"),
    [
        ("one-by-one", "TRL"),
        ("one-by-one-copied", "OpenRLHF"),
        ("bucketed", "verl"),
        ("sharded-state", "verl"),
        ("whole-model", "TRL"),
        ("merged-model", "peft"),
        ("adapters-by-layer", "verl"),
        ("tensor-ranks-bucketed", "verl"),
    ],
)
def test_an_explanation_names_who_does_so(way, source):
    told = str(run(components={"weight_sync": way}).explain("policy.sync_buffers", depth=0))
    assert source in told
