"""FlashAttention 2 between all-to-alls (Ulysses): a rank has a share of the tokens, in attention of the heads.

The kernel's operands have all tokens and a share of the heads: as many elements as before the exchange. Its output is
exchanged back, and the projection after it keeps the result beside the kernel's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Limit, hookimpl, maths, term
from alignsim_plugins.attention.flash import NARROW
from alignsim_plugins.attention.flash import SOURCE as KERNEL
from alignsim_plugins.attention.slot import ATTENTION
from alignsim_plugins.elements import BF16, FP32

SOURCE = (
    "Jacobs et al. 2023 (DeepSpeed-Ulysses), section 3; verl: models/transformers/monkey_patch.py, utils/ulysses.py"
)

DEALT_OUT = Limit(
    divides="heads",
    fits="kv_heads",
    because="heads are dealt out to the ranks, and a key head is repeated for ranks that share it",
)


@term("", per={"role"}, source=f"{SOURCE}: key heads are repeated until every rank has one")
def exchanged_key_width(key_width: Any, kv_heads: Any, sequence: Any) -> Any:
    """Elements of all key heads together, repeated where there are fewer than ranks."""
    return key_width * maths.maximum(1, sequence / kv_heads)


@term("byte/token", per={"role"}, source=f"{KERNEL}; {SOURCE}")
def attention_saved(
    query_width: Any, exchanged_key_width: Any, heads: Any, sequence: Any, fp32: Any = FP32, half: Any = BF16
) -> Any:
    """Query, key, value and output in 16 bits, a log-sum a head, and the output after its exchange."""
    return half * ((2 + (sequence > 1)) * query_width + 2 * exchanged_key_width) + fp32 * heads


@term("byte/token", per={"role"}, source=f"{SOURCE}: all_to_all_tensor; counted in its code, not measured")
def attention_forward_work(
    hidden: Any,
    query_width: Any,
    key_width: Any,
    exchanged_key_width: Any,
    sequence: Any,
    residual_bytes: Any,
    half: Any = BF16,
) -> Any:
    """Operands before and after their exchange, and the output: the kernel's, what is sent and received, and joined."""
    return (sequence > 1) * (
        half * (6 * query_width + 2 * key_width + 2 * exchanged_key_width) + 2 * residual_bytes * hidden
    )


ULYSSES = Component(
    name="ulysses-flash",
    slot=ATTENTION,
    terms=(exchanged_key_width, attention_saved, attention_forward_work),
    defaults={
        name: constant
        for name, constant in ATTENTION.none.defaults.items()
        if name not in ("attention_saved", "attention_forward_work")
    },
    limits={"compute_bytes": NARROW, "sequence": DEALT_OUT},
    source=SOURCE,
    left_out=("exchanges of gradients in an attention's backward, which need less than the MLP's",),
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer FlashAttention 2 between all-to-alls."""
    yield ULYSSES
