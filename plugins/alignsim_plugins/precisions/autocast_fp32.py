"""Automatic mixed precision: 32-bit weights, cast to 16 bits for every matrix multiplication."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Const, hookimpl
from alignsim_plugins.elements import TRACES
from alignsim_plugins.precisions.slot import PRECISION

SOURCE = "torch.autocast over 32-bit weights, outputs converted to 32 bits by accelerate 1.15"

AUTOCAST_FP32 = Component(
    name="autocast-fp32",
    slot=PRECISION,
    defaults={
        "weight_bytes": Const(4, "byte/parameter", source=SOURCE),
        "weight_gradient_bytes": Const(4, "byte/parameter", source=SOURCE),
        "master_bytes": Const(0, "byte/parameter", source=SOURCE),
        "compute_bytes": Const(2, "byte", source=SOURCE),
        "residual_bytes": Const(4, "byte", source=SOURCE),
        "norm_saved_bytes": Const(26, "byte", source=TRACES),
        "autocast": Const(1, source=SOURCE),
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer this format."""
    yield AUTOCAST_FP32
