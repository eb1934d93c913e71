"""A pool of key and value blocks on one device of a rollout engine, and what fits into it.

Heads are dealt out to tensor ranks, and copied where there are more ranks than heads; latents (MLA) are on every rank.
A layer with a sliding window keeps the blocks of one window.
"""

from __future__ import annotations

from typing import Any

from alignsim import Const, maths, term

SOURCE = "vLLM: v1/core/kv_cache_utils.py and v1/kv_cache_interface.py"
BLOCK = Const(16, "token", source="vLLM: tokens of a block of the cache")
AS_LONG = Const(0, "token", source="as long as a rollout; else the longest sequence that the engine is told to serve")


@term("byte/token", per={"role"}, during={"generate"}, source=SOURCE)
def pooled_token(
    kv_heads: Any, head_dim: Any, kv_lora_rank: Any, qk_rope_head_dim: Any, tensor: Any, kv_bytes: Any
) -> Any:
    """Key and value of one token in one layer, on one tensor rank."""
    return kv_bytes * maths.where(
        kv_lora_rank > 0,
        kv_lora_rank + qk_rope_head_dim,
        2 * head_dim * maths.maximum(1, maths.ceil(kv_heads / tensor)),
    )


@term("token", per={"role"}, during={"generate"}, source=SOURCE)
def longest_sequence(rollout_tokens: Any, max_model_tokens: Any = AS_LONG, block_tokens: Any = BLOCK) -> Any:
    """Tokens of the longest sequence, in whole blocks."""
    return block_tokens * maths.ceil(maths.where(max_model_tokens > 0, max_model_tokens, rollout_tokens) / block_tokens)


@term("byte", per={"role"}, during={"generate"}, source=SOURCE)
def sequence_cache(
    pooled_token: Any,
    longest_sequence: Any,
    layers: Any,
    window_layers: Any,
    window: Any,
    pipeline: Any,
    block_tokens: Any = BLOCK,
) -> Any:
    """The cache of the longest sequence on one device."""
    return (
        pooled_token
        * (
            (layers - window_layers) * longest_sequence
            + window_layers * maths.minimum(longest_sequence, block_tokens * (1 + maths.ceil(window / block_tokens)))
        )
        / pipeline
    )


@term("byte", per={"role"}, during={"generate"}, source=SOURCE)
def kv_cache(kv_pool: Any, model_parallel_devices: Any) -> Any:
    """All blocks of the engine, full or not."""
    return kv_pool * model_parallel_devices


@term("", per={"role"}, during={"generate"}, source="Kwon et al. 2023 (PagedAttention), sec. 4")
def sequences_at_once(kv_pool: Any, sequence_cache: Any) -> Any:
    """How many of the longest sequences the pool holds."""
    return maths.floor(maths.safe_divide(kv_pool, sequence_cache))


@term(
    "byte",
    per={"role"},
    during={"generate"},
    condition="one sequence of the greatest length fits into the pool of keys and values",
    source="vLLM: v1/core/kv_cache_utils.py, check_enough_kv_cache_memory",
)
def room_for_a_sequence(kv_pool: Any, sequence_cache: Any) -> Any:
    """What the pool has beyond one sequence."""
    return kv_pool - sequence_cache


POOL = (pooled_token, longest_sequence, sequence_cache, kv_cache, sequences_at_once, room_for_a_sequence)
