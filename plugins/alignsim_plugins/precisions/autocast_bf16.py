"""Autocast over bfloat16 weights: nothing is left to cast, but outputs are converted to 32 bits."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Const, hookimpl
from alignsim_plugins.elements import TRACES
from alignsim_plugins.precisions.slot import PRECISION

SOURCE = "TRL 1.x: a bfloat16 model under autocast, outputs converted to 32 bits by accelerate 1.15"

AUTOCAST_BF16 = Component(
    name="autocast-bf16",
    slot=PRECISION,
    defaults={
        "weight_bytes": Const(2, "byte/parameter", source=SOURCE),
        "weight_gradient_bytes": Const(2, "byte/parameter", source=SOURCE),
        "master_bytes": Const(0, "byte/parameter", source=SOURCE),
        "compute_bytes": Const(2, "byte", source=SOURCE),
        "residual_bytes": Const(2, "byte", source=SOURCE),
        "norm_saved_bytes": Const(16, "byte", source=TRACES),
        "autocast": Const(1, source=SOURCE),
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer this format."""
    yield AUTOCAST_BF16
