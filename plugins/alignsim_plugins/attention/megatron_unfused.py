"""Megatron's attention without a fused kernel: the softmax of every score is kept in 16 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Limit, hookimpl, maths, term
from alignsim.limits import SWITCH
from alignsim_plugins.attention.megatron_fused import attention_operands
from alignsim_plugins.attention.slot import ATTENTION
from alignsim_plugins.elements import BOOL, FP32

SOURCE = "Korthikanti et al. 2022, section 4.1; TransformerEngine: UnfusedDotProductAttention"


@term("byte/token", per={"role"}, source=SOURCE)
def attention_saved(
    attention_operands: Any,
    heads: Any,
    row_tokens: Any,
    compute_bytes: Any,
    attention_dropout: Any,
    fused_softmax: Any,
    fp32: Any = FP32,
    truth: Any = BOOL,
) -> Any:
    """Query, key, value and output; the softmax, and with dropout its mask and what is left.

    A softmax that is not fused is in 32 bits; what multiplies the values is another tensor then, dropout or not.
    """
    return attention_operands + heads * row_tokens * (
        maths.where(fused_softmax > 0, compute_bytes, fp32)
        + maths.where(attention_dropout > 0, compute_bytes + truth, (1 - fused_softmax) * compute_bytes)
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
    refuses="only fused kernels share a sequence between context ranks; choose attention 'megatron-fused'",
)
def context_without_kernel(context: Any) -> Any:
    """Context ranks beside the first."""
    return context - 1


MEGATRON_UNFUSED = Component(
    name="megatron-unfused",
    slot=ATTENTION,
    terms=(
        attention_operands,
        attention_saved,
        attention_forward_work,
        attention_backward_work,
        context_without_kernel,
    ),
    defaults={
        **{name: ATTENTION.none.defaults[name] for name in ("attention_mask", "forward_mask")},
        "fused_softmax": Const(
            1, source="Megatron-LM d98e8a64: masked_softmax_fusion, on unless switched off", limit=SWITCH
        ),
        "attention_dropout": Const(
            0,
            source="verl, NeMo-RL, Llama: no dropout; Megatron-LM's own default is 0.1",
            limit=Limit(1, because="it is a share"),
        ),
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer Megatron's attention without a fused kernel."""
    yield MEGATRON_UNFUSED
