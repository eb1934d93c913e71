"""Single precision throughout."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Const, hookimpl
from alignsim_plugins.elements import TRACES
from alignsim_plugins.precisions.slot import PRECISION

SOURCE = "torch's default dtype: weights, gradients and arithmetic in 32 bits"

FP32 = Component(
    name="fp32",
    slot=PRECISION,
    defaults={
        "weight_bytes": Const(4, "byte/parameter", source=SOURCE),
        "weight_gradient_bytes": Const(4, "byte/parameter", source=SOURCE),
        "master_bytes": Const(0, "byte/parameter", source=SOURCE),
        "compute_bytes": Const(4, "byte", source=SOURCE),
        "residual_bytes": Const(4, "byte", source=SOURCE),
        "norm_saved_bytes": Const(24, "byte", source=TRACES),
        "autocast": Const(0, source=SOURCE),
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer this format."""
    yield FP32
