"""PyTorch's scaled_dot_product_attention: a fused kernel where one exists, plain arithmetic where none does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, maths, term
from alignsim_plugins.attention.slot import ALL_HEADS, ATTENTION
from alignsim_plugins.elements import BF16, BOOL, FP32, TRACES

SOURCE = "Dao et al. 2022 (FlashAttention), algorithm 2; transformers 5.24: integrations/sdpa_attention.py"


@term("", per={"role"}, source="transformers 5.24: masking_utils.py, packed sequences are found by their positions")
def masks(padded: Any, packed: Any) -> Any:
    """1 where a mask must hide padding, or other sequences of the same row."""
    return maths.maximum(padded, packed)


@term("", per={"role"}, source="torch 2.13: no fused kernel takes 32-bit inputs with grouped heads")
def plain_arithmetic(compute_bytes: Any, kv_heads: Any, heads: Any, masks: Any, half: Any = BF16) -> Any:
    """1 where no fused kernel exists: 32-bit operands with fewer key than query heads, not repeated for a mask."""
    return (compute_bytes > half) * (kv_heads < heads) * (masks <= 0)


@term("byte/token", per={"role"}, source=f"{SOURCE}; {TRACES}")
def fused_saved(
    query_width: Any,
    key_width: Any,
    heads: Any,
    masks: Any,
    row_tokens: Any,
    compute_bytes: Any,
    fp32: Any = FP32,
) -> Any:
    """Query, key, value, output and a log-sum a head; with a mask, keys and values repeated and a bias row a token."""
    return (
        compute_bytes * (2 * query_width + 2 * maths.where(masks > 0, query_width, key_width) + masks * row_tokens)
        + fp32 * heads
    )


@term("byte/token", per={"role"}, source=TRACES)
def attention_saved(
    plain_arithmetic: Any,
    fused_saved: Any,
    query_width: Any,
    heads: Any,
    row_tokens: Any,
    compute_bytes: Any,
    fp32: Any = FP32,
) -> Any:
    """What the kernel keeps; plain arithmetic keeps the softmax of every score."""
    return maths.where(plain_arithmetic > 0, 4 * compute_bytes * query_width + fp32 * heads * row_tokens, fused_saved)


@term("byte/token", per={"role"}, source=TRACES)
def attention_forward_work(
    plain_arithmetic: Any,
    heads: Any,
    row_tokens: Any,
    hidden: Any,
    query_width: Any,
    key_width: Any,
    compute_bytes: Any,
    fp32: Any = FP32,
) -> Any:
    """Scores twice over in plain arithmetic, with query and repeated key and value; nothing of note when fused."""
    return maths.where(
        plain_arithmetic > 0,
        2 * fp32 * heads * row_tokens + compute_bytes * (hidden + 3 * query_width + 2 * key_width),
        0,
    )


@term("byte/token", per={"role"}, source=TRACES)
def attention_backward_work(
    plain_arithmetic: Any, heads: Any, row_tokens: Any, query_width: Any, compute_bytes: Any, fp32: Any = FP32
) -> Any:
    """Softmax and two gradients of the scores in plain arithmetic, with query, key and the output's gradient."""
    return plain_arithmetic * (3 * fp32 * heads * row_tokens + 3 * compute_bytes * query_width)


@term("byte", per={"role"}, source="transformers 5.24: masking_utils.py, a truth value for every pair of a row")
def attention_mask(masks: Any, tokens: Any, row_tokens: Any, truth: Any = BOOL) -> Any:
    """A mask over all pairs of tokens of a row, if something must be hidden."""
    return masks * tokens * row_tokens * truth


@term("byte", per={"role"}, source=TRACES)
def forward_mask(attention_mask: Any) -> Any:
    """The model's forward holds the mask until it returns."""
    return attention_mask


SDPA = Component(
    name="sdpa",
    slot=ATTENTION,
    terms=(
        masks,
        plain_arithmetic,
        fused_saved,
        attention_saved,
        attention_forward_work,
        attention_backward_work,
        attention_mask,
        forward_mask,
    ),
    limits={"sequence": ALL_HEADS},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer scaled_dot_product_attention."""
    yield SDPA
