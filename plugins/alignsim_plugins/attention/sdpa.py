"""PyTorch's scaled_dot_product_attention: a fused kernel where one exists, plain arithmetic where none does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, maths, term
from alignsim.limits import SHARE
from alignsim_plugins.attention.slot import ALL_HEADS, ATTENTION
from alignsim_plugins.attention.windows import MASKS, WINDOWS
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
def masked_saved(
    query_width: Any,
    key_width: Any,
    output_width: Any,
    value_storage: Any,
    heads: Any,
    kv_heads: Any,
    row_tokens: Any,
    compute_bytes: Any,
    fp32: Any = FP32,
) -> Any:
    """With a mask: query, key and value repeated, output, a log-sum a head, and a row of the mask turned to a bias.

    A single head of keys and values is repeated without a copy.
    """
    return (
        compute_bytes
        * (
            query_width
            + maths.where(kv_heads > 1, query_width, key_width)
            + maths.where((kv_heads > 1) * (kv_heads < heads), output_width, value_storage)
            + output_width
            + row_tokens
        )
        + fp32 * heads
    )


@term("byte/token", per={"role"}, source=f"{SOURCE}; {TRACES}")
def unmasked_saved(
    plain_arithmetic: Any,
    query_width: Any,
    output_width: Any,
    key_width: Any,
    value_storage: Any,
    heads: Any,
    row_tokens: Any,
    compute_bytes: Any,
    fp32: Any = FP32,
) -> Any:
    """Without one: query, key, value, output and a log-sum a head; plain arithmetic keeps every score after softmax."""
    return maths.where(
        plain_arithmetic > 0,
        4 * compute_bytes * query_width + fp32 * heads * row_tokens,
        compute_bytes * (query_width + output_width + key_width + value_storage) + fp32 * heads,
    )


@term("", per={"role"}, source=MASKS, limit=SHARE)
def masked_share(masks: Any, reaches_beyond: Any, window_layers: Any, layers: Any) -> Any:
    """Of the layers, those whose kernel is given a mask: all, or those whose window is shorter than a row."""
    return maths.where(masks > 0, 1, reaches_beyond * window_layers / layers)


@term("byte/token", per={"role"}, source=TRACES)
def attention_saved(masked_share: Any, masked_saved: Any, unmasked_saved: Any) -> Any:
    """What the kernel keeps, the mean of all layers."""
    return masked_share * masked_saved + (1 - masked_share) * unmasked_saved


@term("byte/token", per={"role"}, source=TRACES)
def attention_beyond_mean(masked_share: Any, masked_saved: Any, unmasked_saved: Any, attention_saved: Any) -> Any:
    """What a layer of the kind that keeps more keeps beyond that mean."""
    return (masked_share > 0) * (masked_share < 1) * (maths.maximum(masked_saved, unmasked_saved) - attention_saved)


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


@term("byte", per={"role"}, source=f"{MASKS}, a truth value for every pair of a row")
def attention_mask(
    masks: Any, reaches_beyond: Any, mask_kinds: Any, tokens: Any, row_tokens: Any, truth: Any = BOOL
) -> Any:
    """A mask for every row and kind of layer, if something must be hidden in it; a window alone is the same for all."""
    return truth * row_tokens * maths.where(masks > 0, mask_kinds * tokens, reaches_beyond * row_tokens)


@term("byte", per={"role"}, source=TRACES)
def forward_mask(attention_mask: Any) -> Any:
    """The model's forward holds the mask until it returns."""
    return attention_mask


SDPA = Component(
    name="sdpa",
    slot=ATTENTION,
    terms=(
        *WINDOWS,
        masks,
        plain_arithmetic,
        masked_saved,
        unmasked_saved,
        masked_share,
        attention_saved,
        attention_beyond_mean,
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
