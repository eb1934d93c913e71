"""LitGPT's layers, adapters and loss: bytes a token as live storages of its code were counted, and sums by hand."""

from __future__ import annotations

import pytest

from alignsim import Batch, Scenario

TOKENS = 1024
LLAMA = {"query": 8192, "roped": 2 * 8192, "fused": 24576, "output": 8192, "log_sums": 4 * 32}
DROPPED, MASK, THIN, PADDED = 8192, 4096, 2 * 2 * 8, 2 * 8192


def run(model="Llama-2-7B", adapter="litgpt-lora", givens=None, rows=1):
    components = {
        "precision": "bf16",
        "optimizer": "adamw-foreach",
        "adapter": adapter,
        "recompute": "none",
        "attention": "sdpa",
        "loss": "litgpt",
        "engine": "single-device",
        "layers": "litgpt",
        "packing": "equal",
    }
    return Scenario(
        algorithm="SFT",
        models={"policy": model},
        components=components,
        batch=Batch(micro_batch=rows, sequence_tokens=TOKENS),
        givens={f"policy.{name}": value for name, value in (givens or {}).items()},
    ).result


def value(result, name):
    return result.value(f"policy.{name}")


def test_a_layer_keeps_what_was_counted():
    lora, nf4 = run(), run(adapter="litgpt-qlora")
    for result in (lora, nf4):
        assert value(result, "attention_kept") + value(result, "beside_kernel") == sum(LLAMA.values()) - LLAMA["query"]
        assert value(result, "mlp_saved") == 3 * 22016
    assert value(lora, "adapter_saved") == DROPPED + MASK + THIN + PADDED
    assert value(nf4, "adapter_saved") == DROPPED + MASK + THIN + PADDED + 2 * 8192 + 22016


def test_adapters_are_made_in_the_run_s_format():
    assert value(run(), "trainable_parameters") == 32 * 8 * 2 * (4096 + 4096)
    assert value(run(), "adapter_weights") == 2 * value(run(), "trainable_parameters")


def test_nothing_is_padded_where_all_three_are_adapted():
    assert value(run(givens={"adapts_key": 1}), "padded_results") == 0
    assert value(run(givens={"adapts_query": 0}), "padded_results") == 8192


def test_without_dropout_adapters_and_products_share_an_input():
    assert value(run(givens={"lora_dropout": 0}), "adapter_saved") == 8192 + THIN + PADDED
    assert value(run(adapter="litgpt-qlora", givens={"lora_dropout": 0}), "adapter_saved") == (
        8192 + THIN + PADDED + 8192 + 22016
    )


def test_newer_kernels_keep_no_inputs():
    old, new = (run(adapter="litgpt-qlora", givens={"keeps_frozen_inputs": on}) for on in (1, 0))
    assert value(new, "adapter_saved") == value(run(), "adapter_saved")
    assert value(old, "final_norm_saved") - value(new, "final_norm_saved") == 2 * 4096 * TOKENS


def test_shared_keys_and_values_are_repeated():
    heads, kv_heads, width = 32, 8, 128
    result = run("Llama-3.1-8B")
    kept = value(result, "attention_kept") + value(result, "beside_kernel")
    assert kept == 2 * 4 * heads * width + 4 * heads, "query, repeated key and value, output"
    assert kept > 2 * 2 * (heads + kv_heads) * width


def test_the_head_is_in_four_bits_too():
    result = run(adapter="litgpt-qlora")
    head, layer = 32000 * 4096, 4 * 4096**2 + 3 * 4096 * 11008
    rest = 32000 * 4096 + 65 * 4096
    assert value(result, "weights") == (head + 32 * layer) * (0.5 + 4 / 64) + 2 * rest
    assert value(result, "dequantised_head") == (2 + 2) * head


def test_a_tied_head_is_a_matrix_of_its_own_in_four_bits():
    result = run("Qwen2.5-0.5B", adapter="litgpt-qlora")
    layers = 24 * value(result, "quantised_matrices")
    assert value(result, "weights") == pytest.approx(
        (layers + 151936 * 896) * 0.5625 + 2 * (result.value("{Qwen2.5-0.5B}.parameters") - layers)
    )


@pytest.mark.parametrize("rows", [1, 4])
def test_logits(rows):
    result = run(rows=rows)
    a_word = {
        name: result.value(f"update:policy.{name}") / (rows * TOKENS * 32000)
        for name in ("logits_at_loss", "logits_in_backward", "logits_at_head", "returned_logits")
    }
    assert a_word == {
        "logits_at_loss": 8,
        "logits_in_backward": 8 + 8 * 128 / TOKENS,
        "logits_at_head": 2,
        "returned_logits": 4,
    }
