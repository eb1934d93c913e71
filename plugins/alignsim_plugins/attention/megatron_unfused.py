"""Megatron's attention without a fused kernel: the softmax of every score is kept in 16 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, term
from alignsim_plugins.attention.slot import ATTENTION
from alignsim_plugins.elements import BOOL

SOURCE = "Korthikanti et al. 2022, section 4.1; TransformerEngine: UnfusedDotProductAttention"


@term("byte/token", per={"role"}, source=SOURCE)
def attention_saved(
    query_width: Any,
    key_width: Any,
    heads: Any,
    row_tokens: Any,
    compute_bytes: Any,
    attention_dropout: Any,
    truth: Any = BOOL,
) -> Any:
    """Query, key, value and output; the softmax, and with dropout its mask and what is left."""
    return compute_bytes * (2 * query_width + 2 * key_width) + heads * row_tokens * (
        compute_bytes + (attention_dropout > 0) * (compute_bytes + truth)
    )


@term("byte/token", per={"role"}, source=SOURCE)
def attention_forward_work(heads: Any, row_tokens: Any, compute_bytes: Any) -> Any:
    """Scores and their softmax."""
    return 2 * compute_bytes * heads * row_tokens


@term("byte/token", per={"role"}, source=SOURCE)
def attention_backward_work(heads: Any, row_tokens: Any, compute_bytes: Any) -> Any:
    """Gradients of the softmax and of the scores."""
    return 2 * compute_bytes * heads * row_tokens


@term(
    "",
    per={"role"},
    source="TransformerEngine: attention/dot_product_attention/utils.py",
    refuses="only fused kernels share a sequence between context ranks; choose attention 'flash'",
)
def context_without_kernel(context: Any) -> Any:
    """Context ranks beside the first."""
    return context - 1


MEGATRON_UNFUSED = Component(
    name="megatron-unfused",
    slot=ATTENTION,
    terms=(attention_saved, attention_forward_work, attention_backward_work, context_without_kernel),
    defaults={
        **{name: ATTENTION.none.defaults[name] for name in ("attention_mask", "forward_mask")},
        "attention_dropout": Const(0, source="verl, NeMo-RL, Llama: no dropout; Megatron-LM's own default is 0.1"),
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer Megatron's attention without a fused kernel."""
    yield MEGATRON_UNFUSED
