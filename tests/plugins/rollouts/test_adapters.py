"""Generation counts adapters: their weights, what they need over the prompts, and matrices in few bits made whole."""

from __future__ import annotations

from typing import Any

from alignsim import Architecture, Batch, Scenario

HIDDEN, FFN, HEADS, KEY, LAYERS, RANK = 256, 704, 8, 64, 4, 16
MODEL = Architecture(name="m", layers=LAYERS, hidden=HIDDEN, heads=HEADS, kv_heads=2, ffn=FFN, vocab=4096)
PORTS = 2 * (HIDDEN + HIDDEN) + 2 * (HIDDEN + KEY) + 3 * (HIDDEN + FFN)
"""Inputs and outputs of a layer's seven projections."""


def generation(adapter: str, sequences: int = 4, prompt: int = 32, precision: str = "bf16", **components: Any) -> Any:
    return Scenario(
        algorithm="Generation",
        models={"policy": MODEL},
        components={
            "adapter": adapter,
            "engine": "single-device",
            "precision": precision,
            "rollout": "transformers-cache",
            **components,
        },
        batch=Batch(rollout_sequences=sequences, rollout_tokens=2 * prompt, prompt_tokens=prompt),
    ).result


def test_weights_of_adapters_are_held():
    lora, full = generation("lora"), generation("full")
    assert lora.value("policy.held_weights") - full.value("policy.held_weights") == 4 * RANK * PORTS * LAYERS


def test_adapters_are_as_wide_as_they_are_over_the_prompts():
    """At the projection up: gate and up in 16 bits, B(A(x)) and that scaled in 32; x twice over, the residual."""
    per_token = 2 * (2 + 4) * FFN + (2 + 2 + 4) * HIDDEN
    down = (2 + 4) * FFN + (2 + 2 * 2) * HIDDEN
    result = generation("lora")
    assert result.value("policy.adapter_forward_work") == max(per_token, down)
    assert result.value("policy.prefill_working_set") == 4 * 32 * (max(per_token, down) + 2 * 2 * HIDDEN)


def test_without_adapters_nothing_changes():
    bare = generation("none").scenario
    alone = {slot: component for slot, component in bare.components.items() if slot != "adapter"}
    assert generation("none").peak == generation("full").peak == bare.using(components=alone).result.peak


def test_four_bits_are_made_whole_one_matrix_at_a_time():
    matrix = 2 * HIDDEN * FFN
    short = generation("qlora", sequences=2, prompt=8)
    assert short.value("policy.dequantised_in_prefill") == matrix - 2 * FFN * 2 * 8
    step = short.value("policy.decode_working_set")
    assert short.value("policy.dequantised_in_decoding") == matrix - step > 0
    assert generation("qlora", sequences=1).value("policy.dequantised_in_decoding") == 0
    assert generation("qlora").value("policy.weights") < generation("full").value("policy.weights")


def test_norms_of_merged_matrices_are_taken_while_generating_too():
    result = generation("dora", sequences=1, prompt=8)
    merged = 4 * max(FFN * (FFN + 4 * HIDDEN), HIDDEN * (HIDDEN + 4 * FFN))
    assert result.value("policy.merged_in_prefill") == merged
    assert result.value("policy.merged_in_decoding") == merged - result.value("policy.decode_working_set")


def test_a_policy_that_is_trained_generates_with_its_adapters():
    run = Scenario(
        algorithm="GRPO-No-KL",
        models={"policy": MODEL},
        components={
            "precision": "bf16",
            "optimizer": "adamw-fused",
            "adapter": "qlora",
            "recompute": "full",
            "loss": "trl-grpo",
            "attention": "sdpa",
            "engine": "single-device",
            "layers": "transformers",
            "packing": "equal",
            "rollout": "transformers-cache",
        },
        batch=Batch(micro_batch=1, sequence_tokens=64, prompt_tokens=32, rollout_sequences=4, rollout_tokens=64),
    )
    alone = generation("qlora")
    for name in ("held_weights", "prefill_working_set", "dequantised_in_prefill", "dequantised_in_decoding"):
        assert run.result.value(f"policy.{name}") == alone.value(f"policy.{name}")
