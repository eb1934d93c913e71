"""Megatron's mixed precision: 16-bit weights, gradients added up in 32 bits, a 32-bit copy beside the optimizer."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Const, hookimpl
from alignsim_plugins.precisions.bf16_master import BF16_MASTER
from alignsim_plugins.precisions.slot import PRECISION

SOURCE = "Megatron-LM d98e8a64: training/arguments.py, accumulate_allreduce_grads_in_fp32 with bf16; 2 + 4 + 4 bytes"

MEGATRON_BF16 = Component(
    name="megatron-bf16",
    slot=PRECISION,
    defaults={
        **BF16_MASTER.defaults,
        "weight_gradient_bytes": Const(4, "byte/parameter", source=SOURCE),
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer this format."""
    yield MEGATRON_BF16
