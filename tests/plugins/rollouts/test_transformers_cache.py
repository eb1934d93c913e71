"""transformers' generate: the cache layer by layer, and what prefill and a step need beside it."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Architecture, Batch, Scenario, default_registry
from alignsim_plugins.rollouts import generate, transformers_cache
from alignsim_plugins.rollouts.slot import ROLLOUT
from alignsim_plugins.rollouts.transformers_cache import appended_keys, kv_cache, prompt_cache

SHAPE: dict[str, Any] = {"layers": 4, "hidden": 64, "heads": 4, "kv_heads": 2, "ffn": 192, "vocab": 1000}
ONE_DEVICE: Any = {"precision": "bf16", "engine": "single-device", "rollout": "transformers-cache"}
PREFILL, DECODE = "generate:policy/prefill.allocated", "generate:policy/decode.allocated"


def generation(shape: dict[str, Any] | None = None, precision: str = "bf16", **givens: Any) -> Any:
    algorithm: Any = "Generation"
    return Scenario(
        algorithm=algorithm,
        models={"policy": Architecture(name="toy", **{**SHAPE, **(shape or {})})},
        components=ONE_DEVICE | {"precision": precision},
        batch=Batch(rollout_sequences=3, rollout_tokens=100, prompt_tokens=60),
        givens=givens,
    ).result


def test_terms_are_in_the_language():
    for term in transformers_cache.TRANSFORMERS_CACHE.terms:
        assert term.formula.expression is not None, term.name


def test_keeps_what_the_slot_promises():
    names = {term.name for term in transformers_cache.TRANSFORMERS_CACHE.terms}
    assert set(ROLLOUT.promises) <= names


def test_prefill_and_decode_by_hand():
    result = generation()
    weights, ids = result.value("policy.weights"), 8 * 3 * 60
    one_token = 2 * 2 * 16 * 2  # keys and values of two heads of 16 in 2 bytes
    work = (3 * 2 * 192 + 4 * 2 * 64) * 3 * 60
    assert result.value(PREFILL) == weights + ids + 4 * one_token * 3 * 60 + work
    logits, appended = 10 * 1000 * 3, 2 * 16 * 2 * 3 * 100
    assert logits > appended
    assert result.value(DECODE) == weights + ids + 4 * one_token * 3 * 100 + logits


def test_one_layers_keys_twice_where_the_vocabulary_is_small():
    result = generation({"vocab": 100})
    assert result.value("policy.decode_working_set") == result.value("policy.appended_keys") == 2 * 16 * 2 * 3 * 100


def test_windows_shorten_the_cache_but_only_after_the_prompt():
    full, some = 4 * 10 * 3 * 100, 10 * 3 * (2 * 100 + 2 * 32)
    assert kv_cache(4, 0, 0, 10, 3, 100) == full
    assert kv_cache(4, 2, 32, 10, 3, 100) == some
    assert kv_cache(4, 2, 4096, 10, 3, 100) == full
    assert prompt_cache(4, 10, 3, 100) == full
    assert appended_keys(4, 2, 32, 5, 2, 3, 100) == 5 * 2 * 3 * 100
    assert appended_keys(4, 4, 32, 5, 2, 3, 100) == 5 * 2 * 3 * 32


def test_latent_attention_caches_keys_and_values_of_all_heads():
    latent = {
        "kv_heads": 4,
        "kv_lora_rank": 32,
        "q_lora_rank": 48,
        "qk_nope_head_dim": 16,
        "qk_rope_head_dim": 8,
        "v_head_dim": 16,
    }
    result = generation(latent)
    assert result.value("policy.cached_key_width") == 4 * 24
    assert result.value("policy.cached_value_width") == 4 * 16


@pytest.mark.parametrize(("copies", "tokens"), [(0, 0), (1, 40), (2, 80)])
def test_scores_are_kept_when_asked(copies: int, tokens: int):
    more = generation(output_scores=copies).value(DECODE) - generation().value(DECODE)
    assert more == tokens * 3 * 1000 * 4


def test_padded_prompts_bring_a_mask_and_repeated_heads():
    plain, padded = generation({"vocab": 100}), generation({"vocab": 100}, padded_prompts=1)
    assert padded.value(PREFILL) - plain.value(PREFILL) == 3 * 60 * 60
    assert padded.value("policy.decode_working_set") == 2 * 64 * 2 * 3 * 100


def test_wider_formats():
    assert generation(precision="fp32").value("policy.next_token_logits") == 12 * 1000 * 3
    assert generation(precision="autocast-bf16").value("policy.next_token_logits") == 12 * 1000 * 3
    assert generation(precision="fp32").value("policy.prefill_scores_work") > 0
    assert generation(precision="bf16").value("policy.prefill_scores_work") == 0
    assert generation(precision="autocast-fp32").value("policy.prefill_mlp_work") == 6 * 192 + 8 * 64 + 2 * 64


def test_experts_need_more_than_their_width():
    result = generation({"experts": 8, "experts_per_token": 2, "expert_ffn": 32, "ffn": 0})
    assert result.value("policy.prefill_experts_work") == 2 * (2 * (4 * 64 + 3 * 32) + 3 * 64)


def test_names_of_shared_terms_are_its_own_or_the_terms_are_the_same():
    """A role that trains as well has the layers' terms beside these."""
    layers = {term.name: term for term in default_registry().component("layers", "transformers").terms}
    own = {term.name: term for term in transformers_cache.TRANSFORMERS_CACHE.terms}
    assert set(generate.GENERATE) <= set(own.values())
    assert all(layers[name] is own[name] for name in layers.keys() & own.keys())
