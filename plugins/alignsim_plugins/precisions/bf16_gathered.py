"""32-bit weights that are gathered in bfloat16: sharded engines cast on the way, and compute in 16 bits."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Const, hookimpl
from alignsim.limits import SWITCH
from alignsim_plugins.elements import TRACES
from alignsim_plugins.precisions.slot import PRECISION

SOURCE = "torch: MixedPrecisionPolicy(param_dtype=torch.bfloat16) over a 32-bit model"

BF16_GATHERED = Component(
    name="bf16-gathered",
    slot=PRECISION,
    defaults={
        "weight_bytes": Const(4, "byte/parameter", source=SOURCE),
        "weight_gradient_bytes": Const(4, "byte/parameter", source=SOURCE),
        "master_bytes": Const(0, "byte/parameter", source=SOURCE),
        "compute_bytes": Const(2, "byte", source=SOURCE),
        "residual_bytes": Const(2, "byte", source=SOURCE),
        "norm_saved_bytes": Const(16, "byte", source=TRACES),
        "autocast": Const(0, source=SOURCE),
        "gathers_cast": Const(1, source=SOURCE, limit=SWITCH),
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer this format."""
    yield BF16_GATHERED
