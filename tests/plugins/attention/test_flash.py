"""FlashAttention 2: no repeats, no scores, no mask."""

from __future__ import annotations

import pytest

from alignsim_plugins.attention.flash import attention_saved
from small_runs import held, small_run, worked

GROUPED = {"query_width": 128, "key_width": 64, "value_storage": 64, "output_width": 128, "heads": 4, "kv_lora_rank": 0}


def test_by_hand():
    assert worked(attention_saved, **GROUPED, padded=0) == 2 * (2 * 128 + 2 * 64) + 16
    assert worked(attention_saved, **GROUPED, padded=1) == 2 * (3 * 128 + 2 * 64) + 16


def test_values_that_are_a_view_keep_the_whole_projection_unless_padding_is_cut_out_of_them():
    fused = {**GROUPED, "value_storage": 128 + 2 * 64}
    assert worked(attention_saved, **fused, padded=0) == 2 * (2 * 128 + 64 + 256) + 16
    assert worked(attention_saved, **fused, padded=1) == worked(attention_saved, **GROUPED, padded=1)


def test_values_of_latent_attention_are_as_wide_as_keys():
    latent = {**GROUPED, "key_width": 128, "value_storage": 160, "output_width": 80, "kv_lora_rank": 32}
    assert worked(attention_saved, **latent, padded=0) == 2 * (4 * 128 + 80) + 16


def test_equal_rows_cost_what_the_fused_kernel_of_torch_costs():
    for recompute in ("none", "full"):
        flash, sdpa = (small_run(attention=a, recompute=recompute, rows=2) for a in ("flash", "sdpa"))
        for moment in ("forward_layers", "loss", "backward_last_layer", "backward_first_layer"):
            assert held(flash, moment) == held(sdpa, moment)


@pytest.mark.parametrize("packing", ["equal", "padded", "packed", "token-budget"])
def test_linear_in_the_length(packing):
    budget = {"token_budget": 1} if packing == "token-budget" else {}
    short, long = (
        small_run(attention="flash", packing=packing, tokens=n, **budget).result.value("policy.layer_saved")
        for n in (64, 4096)
    )
    assert short == long


def test_least_of_the_kernels():
    for packing in ("equal", "padded", "packed"):
        kept = {
            kernel: small_run(attention=kernel, packing=packing, rows=2, tokens=512).result.value("policy.layer_saved")
            for kernel in ("flash", "sdpa", "eager")
        }
        assert kept["flash"] <= kept["sdpa"] <= kept["eager"]
