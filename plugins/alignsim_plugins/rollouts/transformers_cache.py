"""transformers' generate with its growing cache: every layer keeps keys and values, and appends by copying them.

A layer with a sliding window keeps a view of what it has seen last: of the whole prompt after prefill, of one window
from the next token on. Models with latent attention (MLA) cache keys and values of all heads, not the latents.
Attention is PyTorch's scaled_dot_product_attention: scores that an eager attention writes out are not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Limit, at, hookimpl, maths, term
from alignsim_plugins.elements import TRACES
from alignsim_plugins.rollouts.generate import GENERATE, PADDED, generated
from alignsim_plugins.rollouts.slot import ROLLOUT

SOURCE = "transformers 5.24: cache_utils.py, DynamicLayer and DynamicSlidingWindowLayer"
MLA = "transformers: modeling_deepseek_v3.py updates the cache after kv_b_proj"


@term("", per={"role"}, during={"generate"}, source=f"{SOURCE}; {MLA}")
def cached_key_width(
    heads: Any, kv_heads: Any, head_dim: Any, kv_lora_rank: Any, qk_nope_head_dim: Any, qk_rope_head_dim: Any
) -> Any:
    """Elements of a token's cached keys in one layer."""
    return maths.where(kv_lora_rank > 0, heads * (qk_nope_head_dim + qk_rope_head_dim), kv_heads * head_dim)


@term("", per={"role"}, during={"generate"}, source=f"{SOURCE}; {MLA}")
def cached_value_width(heads: Any, kv_heads: Any, head_dim: Any, kv_lora_rank: Any, v_head_dim: Any) -> Any:
    """Elements of a token's cached values in one layer."""
    return maths.where(kv_lora_rank > 0, heads * v_head_dim, kv_heads * head_dim)


@term("byte", per={"role"}, during={"generate"}, source=SOURCE)
def cached_token(cached_key_width: Any, cached_value_width: Any, compute_bytes: Any) -> Any:
    """Key and value of one token in one layer, in the format of arithmetic."""
    return (cached_key_width + cached_value_width) * compute_bytes


@term("byte", per={"role"}, during={"generate"}, source=SOURCE)
def prompt_cache(layers: Any, cached_token: Any, rollout_sequences: Any, prompt_tokens: Any) -> Any:
    """The cache after prefill: layers with a window hold a view of the whole prompt's keys and values."""
    return layers * cached_token * rollout_sequences * prompt_tokens


@term("byte", per={"role"}, during={"generate"}, source=SOURCE)
def kv_cache(
    layers: Any,
    window_layers: Any,
    window: Any,
    cached_token: Any,
    rollout_sequences: Any,
    rollout_tokens: Any,
) -> Any:
    """The cache of whole sequences: all tokens, or one window of them in layers that look no further back."""
    return (
        cached_token
        * rollout_sequences
        * ((layers - window_layers) * rollout_tokens + window_layers * maths.minimum(rollout_tokens, window))
    )


@generated(live=at("prefill"), source=TRACES)
def prompt_cache_per_device(prompt_cache: Any) -> Any:
    """All of it: nothing is divided over devices."""
    return prompt_cache


@generated(live=at("decode"), source=TRACES)
def kv_cache_per_device(kv_cache: Any, prompt_cache: Any) -> Any:
    """The larger of the cache at the last token and that at the first, where windows still hold the whole prompt."""
    return maths.maximum(kv_cache, prompt_cache)


@term("byte", per={"role"}, during={"generate"}, source=f"{SOURCE}: torch.cat of keys; {TRACES}")
def appended_keys(
    layers: Any,
    window_layers: Any,
    window: Any,
    cached_key_width: Any,
    compute_bytes: Any,
    rollout_sequences: Any,
    rollout_tokens: Any,
) -> Any:
    """One layer's keys a second time: the old ones live until those with the new token are made."""
    return (
        cached_key_width
        * compute_bytes
        * rollout_sequences
        * maths.where(window_layers < layers, rollout_tokens, maths.minimum(rollout_tokens, window))
    )


@term(
    "byte",
    per={"role"},
    during={"generate"},
    source="transformers 5.24: integrations/sdpa_attention.py repeats keys and values where there is a mask",
)
def repeated_heads(
    heads: Any,
    kv_heads: Any,
    query_width: Any,
    compute_bytes: Any,
    rollout_sequences: Any,
    rollout_tokens: Any,
    padded_prompts: Any = PADDED,
) -> Any:
    """One layer's keys and values repeated for every query head, where a mask hides padding."""
    return padded_prompts * (kv_heads < heads) * 2 * query_width * compute_bytes * rollout_sequences * rollout_tokens


@generated(live=at("decode"), source=TRACES)
def decode_working_set(appended_keys: Any, repeated_heads: Any, next_token_logits: Any) -> Any:
    """A step's worst instant: in one layer's cache, in its attention, or at the logits."""
    return maths.maximum(maths.maximum(appended_keys, repeated_heads), next_token_logits)


TRANSFORMERS_CACHE = Component(
    name="transformers-cache",
    slot=ROLLOUT,
    terms=(
        *GENERATE,
        cached_key_width,
        cached_value_width,
        cached_token,
        prompt_cache,
        kv_cache,
        prompt_cache_per_device,
        kv_cache_per_device,
        appended_keys,
        repeated_heads,
        decode_working_set,
    ),
    limits={"prompt_tokens": Limit("rollout_tokens", because="a rollout begins with its prompt", least=None)},
    source=f"{SOURCE}; {TRACES}",
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer transformers' generate."""
    yield TRANSFORMERS_CACHE
