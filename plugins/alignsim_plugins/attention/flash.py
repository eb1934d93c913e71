"""FlashAttention 2: grouped heads as they are, no scores, no mask; padding is cut out before and put back after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Limit, hookimpl, maths, term
from alignsim_plugins.attention.slot import ALL_HEADS, ATTENTION
from alignsim_plugins.elements import BF16, FP32

SOURCE = "Dao 2023 (FlashAttention-2), section 3.1; flash-attn 2: FlashAttnFunc and FlashAttnVarlenFunc"
NARROW = Limit(2, because="FlashAttention-2 takes 16-bit operands; choose attention 'sdpa'")
PADDING = "transformers 5.24: modeling_flash_attention_utils.py, _upad_input and pad_input"


@term("byte/token", per={"role"}, source=f"{SOURCE}; {PADDING}")
def attention_saved(
    query_width: Any,
    key_width: Any,
    value_storage: Any,
    output_width: Any,
    kv_lora_rank: Any,
    heads: Any,
    padded: Any,
    fp32: Any = FP32,
    half: Any = BF16,
) -> Any:
    """Query, key, value and output in 16 bits, and a log-sum a head; the output with its padding is one more tensor.

    Values of latent attention are widened to their keys; what is cut of the output is one more tensor.
    """
    return (
        half
        * (
            (2 + padded) * query_width
            + key_width
            + maths.where(kv_lora_rank > 0, key_width + output_width, maths.where(padded > 0, key_width, value_storage))
        )
        + fp32 * heads
    )


FLASH = Component(
    name="flash",
    slot=ATTENTION,
    terms=(attention_saved,),
    defaults={name: constant for name, constant in ATTENTION.none.defaults.items() if name != "attention_saved"},
    limits={"compute_bytes": NARROW, "sequence": ALL_HEADS},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer FlashAttention 2."""
    yield FLASH
