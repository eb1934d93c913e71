"""Megatron's attention in one kernel, FlashAttention or cuDNN's: no scores; values of latent attention as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Limit, hookimpl, maths, term
from alignsim_plugins.attention.slot import ATTENTION
from alignsim_plugins.elements import FP32

SOURCE = "Dao 2023 (FlashAttention-2), section 3.1; TransformerEngine 2.11: FlashAttention, FusedAttention"


@term("byte/token", per={"role"}, source="Korthikanti et al. 2022, section 4.1; DeepSeek-AI 2024, section 2.1")
def attention_operands(
    compute_bytes: Any, query_width: Any, key_width: Any, kv_lora_rank: Any, heads: Any, v_head_dim: Any
) -> Any:
    """Query, key, value and output; of latent attention, values and output are narrower."""
    return compute_bytes * (
        query_width + key_width + maths.where(kv_lora_rank > 0, 2 * heads * v_head_dim, key_width + query_width)
    )


@term("byte/token", per={"role"}, source=SOURCE)
def attention_saved(attention_operands: Any, heads: Any, fp32: Any = FP32) -> Any:
    """Those, and a log-sum a head."""
    return attention_operands + fp32 * heads


MEGATRON_FUSED = Component(
    name="megatron-fused",
    slot=ATTENTION,
    terms=(attention_operands, attention_saved),
    defaults={name: constant for name, constant in ATTENTION.none.defaults.items() if name != "attention_saved"},
    limits={"compute_bytes": Limit(2, because="the kernels take 16-bit operands; choose attention 'megatron-unfused'")},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer Megatron's attention in one kernel."""
    yield MEGATRON_FUSED
