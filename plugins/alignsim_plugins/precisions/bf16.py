"""Pure bfloat16: weights, gradients, moments and arithmetic in 16 bits."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Const, hookimpl
from alignsim_plugins.elements import TRACES
from alignsim_plugins.precisions.slot import PRECISION

SOURCE = "a model loaded in bfloat16 and trained as it is"

BF16 = Component(
    name="bf16",
    slot=PRECISION,
    defaults={
        "weight_bytes": Const(2, "byte/parameter", source=SOURCE),
        "weight_gradient_bytes": Const(2, "byte/parameter", source=SOURCE),
        "master_bytes": Const(0, "byte/parameter", source=SOURCE),
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
    yield BF16
