"""Attention written out: every score of every head is a number in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, maths, term
from alignsim_plugins.attention.slot import ALL_HEADS, ATTENTION
from alignsim_plugins.elements import BF16, FP32, TRACES

SOURCE = "transformers 5.24: eager_attention_forward"


@term("byte/token", per={"role"}, source=f"{SOURCE}; {TRACES}")
def attention_saved(
    query_width: Any, heads: Any, row_tokens: Any, compute_bytes: Any, fp32: Any = FP32, half: Any = BF16
) -> Any:
    """Query, repeated key and value, and output; the softmax in 32 bits, and its cast where operands are narrower."""
    return 4 * compute_bytes * query_width + heads * row_tokens * (
        fp32 + maths.where(compute_bytes > half, 0, compute_bytes)
    )


@term("byte/token", per={"role"}, source=f"{SOURCE}; {TRACES}")
def attention_forward_work(
    heads: Any,
    kv_heads: Any,
    row_tokens: Any,
    hidden: Any,
    query_width: Any,
    key_width: Any,
    compute_bytes: Any,
    fp32: Any = FP32,
    half: Any = BF16,
) -> Any:
    """Scores, masked scores, softmax in 32 bits and its cast; query, repeated key and value, the norm's output."""
    return (
        heads * row_tokens * maths.where(compute_bytes > half, 3 * fp32, 3 * compute_bytes + fp32)
        + compute_bytes * (hidden + 3 * query_width)
        + maths.where(kv_heads < heads, 2 * compute_bytes * key_width, 0)
    )


@term("byte/token", per={"role"}, source=f"{SOURCE}; {TRACES}")
def attention_backward_work(heads: Any, row_tokens: Any, query_width: Any, compute_bytes: Any, fp32: Any = FP32) -> Any:
    """Softmax and two gradients of the scores in 32 bits, with query, key and the output's gradient."""
    return 3 * fp32 * heads * row_tokens + 3 * compute_bytes * query_width


@term("byte", per={"role"}, source="transformers 5.24: masking_utils.py, a 16-bit bias for every pair of a row")
def attention_mask(tokens: Any, row_tokens: Any, half: Any = BF16) -> Any:
    """A bias over all pairs of tokens, padding or not: it makes attention causal."""
    return tokens * row_tokens * half


EAGER = Component(
    name="eager",
    slot=ATTENTION,
    terms=(attention_saved, attention_forward_work, attention_backward_work, attention_mask),
    defaults={"forward_mask": ATTENTION.none.defaults["forward_mask"]},
    limits={"sequence": ALL_HEADS},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer attention written out."""
    yield EAGER
