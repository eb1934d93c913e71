"""What a run under verl's defaults gets, in both generations, with its bytes a parameter by hand."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Batch, InvalidInput, Layout, Scenario, default_registry
from alignsim.errors import CompositionError

REGISTRY = default_registry()
GENERATIONS = ("verl-2026.01", "verl-2026.08")
GIB = 2**30
QWEN_2_5_7B, EMBEDDING = 7_615_616_512, 152_064 * 3584
LLAMA_3_1_8B = 8_030_261_248


def run(preset: str, algorithm: str, said: dict[str, str] | None = None, **more: Any) -> Scenario:
    table = REGISTRY.algorithms[algorithm]
    return Scenario(
        **{
            "algorithm": algorithm,
            "models": {role: "Qwen2.5-7B" for role in table.roles if role not in table.model_of},
            "preset": preset,
            "components": said or {},
            "layout": Layout(data=2),
            "batch": Batch(micro_batch=2, rollout_sequences=128),
            "accelerator": "H100-SXM5-80GB",
            **more,
        }
    )


def chosen(asked: Scenario) -> dict[str, str]:
    return {place: component.name for place, component in asked.settled.components.items()}


@pytest.mark.parametrize("preset", GENERATIONS)
def test_a_7b_on_two_devices_steps_20_bytes_a_parameter(preset):
    """4 of weights, 4 of gradients, 8 of moments, 4 of foreach's square roots; over two: 70.9 GiB."""
    result = run(preset, "GRPO-No-KL").result
    at_step = result.value("update:policy/optimizer_step.allocated")
    assert at_step == pytest.approx(20 * QWEN_2_5_7B / 2, rel=1e-4)
    assert at_step / GIB == pytest.approx(70.9, abs=0.05)


@pytest.mark.parametrize("preset", GENERATIONS)
def test_what_fills_the_slots_unless_told(preset):
    slots = chosen(run(preset, "PPO"))
    assert slots == {
        "engine": "fsdp1",
        "layers": "transformers",
        "adapter": "full",
        "recompute": "full",
        "attention": "flash",
        "packing": "packed",
        "precision": "bf16-gathered",
        "optimizer": "adamw-foreach",
        "loss": preset,
        "critic.loss": "score",
        "reference.engine": "fsdp1-cpu-offload",
        "reward.engine": "served-while-scoring",
        "reward.precision": "bf16",
        "reward.layers": "transformers",
        "reward.attention": "flash",
        "reward.loss": "score",
        "rollout": "vllm",
        "weight_sync": "sharded-state",
    }


ENGINES = {
    "fsdp1": ("fsdp1-cpu-offload", "sharded-state"),
    "fsdp2": ("fsdp2-cpu-offload", "bucketed"),
    "fsdp2-cpu-offload": ("fsdp2-cpu-offload", "bucketed"),
    "megatron": ("megatron", "tensor-ranks-bucketed"),
    "megatron-offloading": ("megatron-offloading", "tensor-ranks-bucketed"),
}


@pytest.mark.parametrize("preset", GENERATIONS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_reference_and_weight_sync_follow_from_the_engine(preset, engine):
    slots = chosen(run(preset, "GRPO", {"engine": engine}))
    assert (slots.get("reference.engine", slots["engine"]), slots["weight_sync"]) == ENGINES[engine]


@pytest.mark.parametrize("preset", GENERATIONS)
@pytest.mark.parametrize("engine", ["fsdp1", "fsdp2"])
@pytest.mark.parametrize("place", ["adapter", "policy.adapter"])
def test_with_adapters_the_reference_is_the_actor_without_them(preset, engine, place):
    asked = run(preset, "GRPO", {"engine": engine, place: "lora"})
    assert chosen(asked)["reference.engine"] == f"{engine}-same-weights"
    assert asked.settled.givens["generator.sleep_level"].value == 1
    weights = asked.result.value("policy.held_weights")
    assert weights == pytest.approx((4 * QWEN_2_5_7B + asked.result.value("policy.adapter_weights")) / 2)


def test_fsdp1_summons_the_whole_model_to_hand_over_adapters():
    slots = {
        engine: chosen(run("verl", "GRPO", {"engine": engine, "adapter": "lora"})) for engine in ("fsdp1", "fsdp2")
    }
    assert {engine: names["weight_sync"] for engine, names in slots.items()} == {
        "fsdp1": "whole-model",
        "fsdp2": "bucketed",
    }
    lora = run("verl", "GRPO", {"adapter": "lora"}).result
    assert lora.value("policy.sync_buffers") == 4 * QWEN_2_5_7B


def test_megatron_holds_6_bytes_and_12_over_the_ranks():
    """Weights and 32-bit gradients on every rank; a copy and moments over two."""
    result = run("verl-2026.08", "GRPO-No-KL", {"engine": "megatron"}).result
    states = sum(
        result.value(f"policy[first].{name}")
        for name in ("held_weights", "held_gradients", "held_master_weights", "held_optimizer_state")
    )
    assert states == pytest.approx((6 + 12 / 2) * QWEN_2_5_7B, rel=1e-3)


def test_vllm_has_half_of_the_device_and_sleeps_deep():
    for preset, sequences in zip(GENERATIONS, (1024, 256), strict=True):
        asked = run(preset, "GRPO")
        result = asked.result
        givens = {name: asked.settled.givens[f"generator.{name}"].value for name in ("max_sequences", "sleep_level")}
        assert givens == {"max_sequences": sequences, "sleep_level": 2}
        taken = sum(result.value(f"generator.{name}") for name in ("kv_pool", "served_weights", "largest_forward"))
        assert taken == pytest.approx(0.5 * result.value("@gpus.usable_memory"))
        assert result.value("generator.max_batched_tokens") == 8192


def test_a_reward_model_has_half_of_the_device_while_it_scores_and_sleeps_else():
    result = run("verl-2026.08", "PPO").result
    served = result.value("reward.served_weights")
    assert served == pytest.approx(2 * (QWEN_2_5_7B - EMBEDDING), rel=1e-4)
    assert served + result.value("reward.scoring_pool") == pytest.approx(0.5 * result.value("@gpus.usable_memory"))
    in_update, alone = (
        asked.result.value("update:policy/optimizer_step.allocated")
        for asked in (run("verl-2026.08", "PPO"), run("verl-2026.08", "PPO-Reward-Elsewhere"))
    )
    assert in_update == alone


def test_january_frees_the_root_after_scoring_and_august_only_in_groups():
    """FSDP1's root, embedding and head and last norm, 2 bytes each, stays where nobody frees it."""
    january, august = (run(preset, "GRPO", {"rollout": "none"}) for preset in GENERATIONS)
    assert january.settled.givens["reference.reshards_root"].value == 1
    assert "reference.reshards_root" not in august.settled.givens
    kept = [asked.result.value("update:policy/forward_layers.allocated") for asked in (january, august)]
    assert kept[1] - kept[0] == pytest.approx(2 * (2 * EMBEDDING + 3584), rel=0.01)


def test_january_works_out_entropies_beside_old_log_probabilities():
    """4 bytes a word and token where August has them anyway, and 10 with Megatron; the reference has none."""
    fsdp, megatron = (run("verl-2026.01", "GRPO", {"engine": engine}).result for engine in ("fsdp2", "megatron"))
    assert [fsdp.value(f"{role}.inferred_narrow") for role in ("policy", "reference")] == [4, 2]
    assert [megatron.value(f"{role}.inferred_narrow") for role in ("policy", "reference")] == [10, 6]


def test_august_reduces_gradients_once_a_step():
    """FSDP2 keeps a whole gradient in 32 bits between micro-batches: 4 P on every device."""
    batch = Batch(micro_batch=2, rollout_sequences=128, accumulation_steps=4)
    january, august = (
        run(preset, "GRPO-No-KL", {"engine": "fsdp2"}, batch=batch).result.value(
            "update:policy/forward_layers.allocated"
        )
        for preset in GENERATIONS
    )
    assert august - january == pytest.approx(4 * QWEN_2_5_7B * (1 - 1 / 2), rel=0.01)


@pytest.mark.parametrize("preset", GENERATIONS)
def test_a_budget_of_tokens_is_the_actors_and_twice_that_for_the_critic(preset):
    result = run(preset, "PPO", {"packing": "token-budget"}).result
    assert [result.value(f"{role}.tokens") for role in ("policy", "critic", "reward")] == [16384, 32768, 8192]


def test_fine_tuning_packs_8192_tokens():
    result = run("verl", "SFT", models={"policy": "Llama-3.1-8B"}, layout=Layout(data=8), batch=Batch()).result
    assert result.value("policy.tokens") == 8192
    assert result.value("policy.held_weights") == 4 * LLAMA_3_1_8B / 8
    assert run("verl", "SFT", {"packing": "packed"}, batch=Batch()).settled.batch.micro_batch == 4


@pytest.mark.parametrize(
    ("algorithm", "said", "told"),
    [
        ("DPO", {}, "runs no DPO"),
        ("GRPO", {"engine": "zero-3"}, "'fsdp1' or 'fsdp2' or"),
        ("GRPO", {"adapter": "qlora"}, "'full' or 'lora' there, got 'qlora'"),
        ("GRPO", {"engine": "megatron", "adapter": "lora"}, "needs as adapter of 'policy' nothing frozen"),
    ],
)
def test_what_verl_does_not_run_is_told(algorithm, said, told):
    with pytest.raises((InvalidInput, CompositionError), match=told):
        _ = run("verl", algorithm, said).result
