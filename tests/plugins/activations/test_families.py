"""Layers of model families, as autograd was seen to keep them (saved_tensors_hooks, torch 2.13, transformers 5.24)."""

from __future__ import annotations

import pytest

from small_runs import held, small_run

WIDE = {"ffn": 512}


@pytest.mark.parametrize(
    ("shape", "choices", "layer"),
    [
        ({}, {}, 6936),  # llama
        ({"scales_in_32_bits": True}, {}, 7448),  # gemma
        ({"norms": 4, "qk_norm": True, "scales_in_32_bits": True}, {}, 11064),  # gemma 3
        ({"qk_norm_full": True, "scales_in_32_bits": True}, {}, 8992),  # olmo 2
        ({"gated": False, "rms_norm": False, "norm_bias": True}, {}, 3864 + 8),  # starcoder 2; a GPU's means are wider
    ],
)
def test_bytes_a_token_and_layer(shape, choices, layer):
    assert small_run({**WIDE, **shape}, **choices).result.value("policy.layer_saved") == layer


def test_gelu_written_out():
    plain = {**WIDE, "gated": False}
    fused, written = small_run(plain), small_run({**plain, "written_out_gelu": True})
    assert written.result.value("policy.mlp_saved") == 10 * 512
    assert fused.result.value("policy.mlp_saved") == 4 * 512


def test_experts_with_norms_of_queries():
    """What the experts' backward holds is never less than the norms of queries and keys beside it."""
    shape = {"experts": 8, "experts_per_token": 2, "expert_ffn": 32, "ffn": 0}
    with_norms, without = small_run({**shape, "qk_norm": True}), small_run(shape)
    more = with_norms.result.value("policy.experts_backward") - without.result.value("policy.experts_backward")
    assert more == with_norms.result.value("policy.qk_norms_saved") > 0
    assert held(with_norms, "backward_first_layer") > held(without, "backward_first_layer")


def test_leading_dense_layers_wait_while_the_first_with_experts_is_done():
    shape = {"experts": 8, "experts_per_token": 2, "expert_ffn": 32, "dense_layers": 1}
    run = small_run(shape, tokens=4096)
    name = "update:policy.leading_dense_layers"
    a_token = sum(run.result.value(f"policy.{part}") for part in ("norms_saved", "attention_kept", "dense_saved"))
    gradients = 2 * run.result.value("{small}.dense_layer_parameters")
    assert run.result.value(name) == 4096 * a_token - gradients > 0
    assert small_run(shape, tokens=4096, recompute="full").result.value(name) == 4096 * 2 * 128 - gradients
    assert small_run({**shape, "dense_layers": 0}, tokens=4096).result.value(name) == 0
    assert small_run(shape, tokens=1).result.value(name) == 0, "gradients of a layer are more than what it keeps"
