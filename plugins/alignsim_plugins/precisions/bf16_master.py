"""Mixed precision: 16-bit weights and gradients, a 32-bit copy of the weights beside the optimizer."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Const, hookimpl
from alignsim_plugins.elements import TRACES
from alignsim_plugins.precisions.slot import PRECISION

SOURCE = "Rajbhandari et al. 2020 (ZeRO), section 3.1: 2 bytes of weights, 2 of gradients, 4 of the 32-bit copy"

BF16_MASTER = Component(
    name="bf16-master",
    slot=PRECISION,
    defaults={
        "weight_bytes": Const(2, "byte/parameter", source=SOURCE),
        "weight_gradient_bytes": Const(2, "byte/parameter", source=SOURCE),
        "master_bytes": Const(4, "byte/parameter", source=SOURCE),
        "compute_bytes": Const(2, "byte", source=SOURCE),
        "residual_bytes": Const(2, "byte", source=SOURCE),
        "norm_saved_bytes": Const(16, "byte", source=TRACES),
        "autocast": Const(0, source=SOURCE),
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer this format."""
    yield BF16_MASTER
