"""Attention written out: every score of every head is a number in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, maths, term
from alignsim_plugins.attention.slot import ALL_HEADS, ATTENTION
from alignsim_plugins.attention.windows import WINDOWS
from alignsim_plugins.elements import BF16, FP32, TRACES

SOURCE = "transformers 5.24: eager_attention_forward"


@term("byte", per={"role"}, source=SOURCE)
def softmax_bytes(narrow_softmax: Any, compute_bytes: Any, fp32: Any = FP32) -> Any:
    """Of a score after the softmax: 32 bits, unless the model leaves it in the format of arithmetic."""
    return maths.where(narrow_softmax > 0, compute_bytes, fp32)


@term("byte/token", per={"role"}, source=f"{SOURCE}; {TRACES}")
def attention_saved(
    query_width: Any,
    output_width: Any,
    heads: Any,
    row_tokens: Any,
    caps_scores: Any,
    softmax_bytes: Any,
    compute_bytes: Any,
) -> Any:
    """Query, repeated key and value, and output; the softmax, and its cast where operands are narrower; the tangent."""
    return compute_bytes * (2 * query_width + 2 * output_width) + heads * row_tokens * (
        softmax_bytes + maths.where(softmax_bytes > compute_bytes, compute_bytes, 0) + caps_scores * compute_bytes
    )


@term("byte/token", per={"role"}, source=f"{SOURCE}; {TRACES}")
def attention_forward_work(
    heads: Any,
    kv_heads: Any,
    row_tokens: Any,
    hidden: Any,
    query_width: Any,
    key_width: Any,
    softmax_bytes: Any,
    caps_scores: Any,
    compute_bytes: Any,
) -> Any:
    """Masked scores, their copy in the softmax's format and the softmax; query, repeated key and value, norm's output.

    Where the formats are one: scores, masked scores and softmax. The tangent that caps scores is beside them.
    """
    return (
        heads * row_tokens * (2 * softmax_bytes + (1 + caps_scores) * compute_bytes)
        + compute_bytes * (hidden + 3 * query_width)
        + maths.where(kv_heads < heads, 2 * compute_bytes * key_width, 0)
    )


@term("byte/token", per={"role"}, source=f"{SOURCE}; {TRACES}")
def attention_backward_work(
    heads: Any, row_tokens: Any, query_width: Any, softmax_bytes: Any, caps_scores: Any, compute_bytes: Any
) -> Any:
    """Softmax and two gradients of the scores in its format, with query, key, the output's gradient and the tangent."""
    return (3 * softmax_bytes + caps_scores * compute_bytes) * heads * row_tokens + 3 * compute_bytes * query_width


@term("byte", per={"role"}, source="transformers 5.24: masking_utils.py, a 16-bit bias for every pair of a row")
def attention_mask(mask_kinds: Any, tokens: Any, row_tokens: Any, half: Any = BF16) -> Any:
    """A bias over all pairs of tokens and for each kind of layer, padding or not: it makes attention causal."""
    return mask_kinds * tokens * row_tokens * half


EAGER = Component(
    name="eager",
    slot=ATTENTION,
    terms=(*WINDOWS, softmax_bytes, attention_saved, attention_forward_work, attention_backward_work, attention_mask),
    defaults={"forward_mask": ATTENTION.none.defaults["forward_mask"]},
    limits={"sequence": ALL_HEADS},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer attention written out."""
    yield EAGER
