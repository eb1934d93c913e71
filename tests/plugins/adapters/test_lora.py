"""Adapters of low rank: counts by hand, tensors as autograd was seen to keep them, and steps as they were traced."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alignsim.errors import CompositionError
from alignsim_plugins.adapters.activations import adapter_shares, lora_saved
from alignsim_plugins.adapters.qlora import quantised_bytes
from small_runs import held, small_run, worked

TARGETS = ("query", "key", "value", "output", "gate", "up", "down")
LLAMA_2_7B = {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 32, "ffn": 11008, "vocab": 32000}
QWEN_2_5_7B = {
    "layers": 28,
    "hidden": 3584,
    "heads": 28,
    "kv_heads": 4,
    "ffn": 18944,
    "vocab": 152064,
    "qkv_bias": True,
}
DEEPSEEK = {
    "experts": 8,
    "experts_per_token": 2,
    "expert_ffn": 32,
    "shared_experts": 1,
    "shared_ffn": 32,
    "dense_layers": 1,
    "kv_heads": 4,
    "q_lora_rank": 48,
    "kv_lora_rank": 32,
    "qk_nope_head_dim": 24,
    "qk_rope_head_dim": 8,
    "v_head_dim": 24,
}


def test_parameters_by_hand():
    run = small_run(adapter="lora", lora_rank=8)
    attention = 2 * (128 + 128) + 2 * (128 + 64)
    assert run.result.value("policy.trainable_parameters") == 3 * 8 * (attention + 3 * (128 + 384))
    only = small_run(adapter="lora", lora_rank=8, **{f"adapts_{t}": 1 * (t in ("query", "value")) for t in TARGETS})
    assert only.result.value("policy.trainable_parameters") == 3 * 8 * (256 + 192)


def test_latent_attention_and_experts_by_hand():
    run = small_run(DEEPSEEK, adapter="lora", lora_rank=8)
    latent = (128 + 48) + (48 + 4 * 32) + (128 + 32 + 8) + (32 + 4 * 48) + (4 * 24 + 128)
    dense, shared = 3 * (128 + 384), 3 * (128 + 32)
    assert run.result.value("policy.trainable_parameters") == 8 * (3 * latent + dense + 2 * shared)
    assert held(run, "backward_first_layer") > 0


def test_routed_experts_alone_have_no_adapters():
    shape = {"experts": 8, "experts_per_token": 2, "expert_ffn": 32, "ffn": 0}
    run = small_run(shape, adapter="lora", lora_rank=8)
    assert run.result.value("policy.trainable_parameters") == 3 * 8 * (2 * 256 + 2 * 192)
    assert run.result.value("policy.adapter_forward_work") == 0


@pytest.mark.parametrize(
    ("choices", "layer"),
    [
        ({"adapter": "full"}, 2048 + 512 + 256 + 24 + 8 * 384),
        ({"adapter": "lora"}, 8952),
        ({"adapter": "lora", "precision": "autocast-fp32"}, 6536),
        ({"adapter": "qlora", "precision": "autocast-fp32"}, 8584),
        ({"adapter": "qlora", "precision": "autocast-bf16"}, 5512),
        ({"adapter": "qlora"}, 8952),
        ({"adapter": "dora"}, 16632),
    ],
)
def test_what_autograd_keeps(choices, layer):
    """Bytes a token and layer, counted with saved_tensors_hooks (torch 2.13, peft 0.21, bitsandbytes 0.50)."""
    ranked = {} if choices["adapter"] == "full" else {"lora_rank": 8}
    assert small_run(**choices, **ranked).result.value("policy.layer_saved") == layer


def test_what_dora_keeps_beside_tokens():
    assert small_run(adapter="dora", lora_rank=8).result.value("policy.scales_saved") == 12 * 1280
    dropped = small_run(adapter="dora", lora_rank=8, lora_dropout=0.1).result
    assert dropped.value("policy.scales_saved") == 12 * 1280 + 4 * (2 * 128 * 128 + 2 * 128 * 64 + 3 * 128 * 384)


def test_an_input_is_shared_only_as_it_is():
    assert worked(adapter_shares, adapter_bytes=2, compute_bytes=2, casts_weights=0, lora_dropout=0) == 1
    assert worked(adapter_shares, adapter_bytes=2, compute_bytes=2, casts_weights=0, lora_dropout=0.05) == 0
    assert worked(adapter_shares, adapter_bytes=4, compute_bytes=2, casts_weights=0, lora_dropout=0) == 0
    assert worked(lora_saved, 7, 16, 2, 1, 1000, 300, 0) == 2 * 16 * 7 + 2 * 300
    assert worked(lora_saved, 7, 16, 2, 0, 1000, 300, 0.05) == 2 * 16 * 7 + 3 * 1000


def test_bits_of_a_quantised_weight():
    assert worked(quantised_bytes, 4, 64, 0) == 0.5 + 4 / 64
    assert worked(quantised_bytes, 4, 64, 1) == 0.5 + 1 / 64 + 4 / (64 * 256)


def test_quantised_weights_by_hand():
    run = small_run(adapter="qlora", double_quantised=0)
    matrices = 3 * (2 * 128 * 128 + 2 * 128 * 64 + 3 * 128 * 384)
    rest = 2 * 64 * 128 + 7 * 128
    assert run.result.value("policy.weights") == matrices * 0.5625 + rest * 2
    wide = run.using(components={**run.components, "precision": "autocast-fp32"})
    assert wide.result.value("policy.weights") == matrices * 0.5625 + rest * 4


@pytest.mark.parametrize("adapter", ["lora", "qlora", "dora"])
def test_states_and_peak_grow_with_rank(adapter):
    runs = [small_run(adapter=adapter, lora_rank=rank) for rank in (4, 8, 16)]
    counts = [run.result.value("policy.thin_parameters") for run in runs]
    assert counts == [counts[0], 2 * counts[0], 4 * counts[0]]
    states = [run.result.value("policy.optimizer_state") for run in runs]
    peaks = [run.result.value("allocated") for run in runs]
    assert states == sorted(states)
    assert peaks == sorted(set(peaks))


@pytest.mark.parametrize("adapter", ["lora", "qlora", "dora"])
@pytest.mark.parametrize("recompute", ["none", "full"])
def test_nothing_shrinks_where_something_is_dropped(adapter, recompute):
    kept = small_run(adapter=adapter, recompute=recompute)
    dropped = kept.using(lora_dropout=0.05)
    for moment in ("forward_layers", "loss", "backward_last_layer", "backward_first_layer", "optimizer_step"):
        assert held(dropped, moment) >= held(kept, moment)


EVERY, TWO = dict.fromkeys(TARGETS, 1), {**dict.fromkeys(TARGETS, 0), "query": 1, "value": 1}
TRACED = [
    (LLAMA_2_7B, "none", 4, 0.0, EVERY, 51281831176, 51510355192, 14276469232),
    (LLAMA_2_7B, "none", 2, 0.0, EVERY, 37389509896, 37618033912, 13876699632),
    (LLAMA_2_7B, "none", 4, 0.05, TWO, 37539718408, 37768242424, 13644702192),
    (LLAMA_2_7B, "none", 4, 0.05, EVERY, 55895565576, 56124089592, 14276469232),
    (LLAMA_2_7B, "full", 4, 0.05, EVERY, 16442925576, 16806994448, 14276469232),
    (LLAMA_2_7B, "full", 4, 0.05, TWO, 16063865352, 16292389368, 13644702192),
    (QWEN_2_5_7B, "none", 2, 0.0, EVERY, 45964767400, 47181050008, 15635033584),
    (QWEN_2_5_7B, "full", 2, 0.05, EVERY, 22613405192, 23829687800, 15635033584),
]
MOMENTS = (
    ("forward_layers", "forward_head", "loss"),
    ("backward_loss", "backward_head", "backward_last_layer", "backward_first_layer", "backward_end"),
    ("optimizer_step",),
)


@pytest.mark.parametrize(("shape", "recompute", "adapter_bytes", "dropout", "targets", *"fbo"), TRACED)
def test_steps_as_they_were_traced(shape, recompute, adapter_bytes, dropout, targets, f, b, o):
    """Live bytes of real steps: rank 16, two rows of 2048 tokens, bfloat16, AdamW over lists of tensors."""
    run = small_run(
        shape,
        tokens=2048,
        rows=2,
        adapter="lora",
        optimizer="adamw-foreach",
        recompute=recompute,
        adapter_bytes=adapter_bytes,
        lora_dropout=dropout,
        **{f"adapts_{name}": on for name, on in targets.items()},
    )
    for moments, traced in zip(MOMENTS, (f, b, o), strict=True):
        assert max(held(run, moment) for moment in moments) == pytest.approx(traced, rel=1e-4)


@pytest.mark.parametrize("adapter", ["lora", "qlora"])
@pytest.mark.parametrize("optimizer", ["adamw-fused", "adamw-foreach", "lion", "sgd-momentum"])
@given(rank=st.integers(1, 25), times=st.integers(2, 5), value_only=st.booleans())
@settings(max_examples=12, deadline=None)
def test_trainable_states_scale_with_rank(adapter, optimizer, rank, times, value_only):
    targets = {"adapts_query": 0, "adapts_key": 0, "adapts_gate": 0} if value_only else {}
    one, many = (
        small_run(adapter=adapter, optimizer=optimizer, lora_rank=r, **targets).result for r in (rank, rank * times)
    )
    for state in ("trainable_parameters", "adapter_weights", "gradients", "master_weights", "optimizer_state"):
        assert many.value(f"policy.{state}") == times * one.value(f"policy.{state}"), state
    assert many.value("policy.weights") == one.value("policy.weights")


@pytest.mark.parametrize("adapter", ["lora", "qlora", "dora"])
def test_adapters_at_no_matrix_are_refused(adapter):
    run = small_run(adapter=adapter)
    nowhere = {path: 0 for path in run.graph.givens if ".adapts_" in path}
    assert nowhere
    with pytest.raises(CompositionError, match="adapters are at no matrix"):
        run.with_givens(nowhere).result  # noqa: B018


@pytest.mark.parametrize(
    ("number", "told"),
    [
        ({"lora_rank": 129}, "lora_rank: must be at most .*hidden, which is 128"),
        ({"lora_rank": 1e30}, "lora_rank: must be at most .*hidden, which is 128"),
        ({"adapter_bytes": 3}, "adapter_bytes: must be 1, 2, 4 or 8"),
    ],
)
def test_numbers_that_no_adapter_has(number, told):
    assert small_run(adapter="lora", lora_rank=128, adapter_bytes=2).result.value("allocated") > 0
    with pytest.raises(CompositionError, match=told):
        _ = small_run(adapter="lora", **number).graph


def test_a_number_that_breaks_two_limits_of_one_kind_is_told_of_once():
    with pytest.raises(CompositionError) as error:
        _ = small_run(weight_bytes=-2).graph
    assert len(error.value.problems) == 1
