"""One device that holds everything: nothing is divided, nothing is gathered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Limit, hookimpl, term
from alignsim_plugins.engines.gradients import GRADIENTS
from alignsim_plugins.engines.slot import ENGINE, WHOLE_WEIGHTS
from alignsim_plugins.engines.states import FIXED, STATES, WHOLE

SOURCE = "one device: nothing is divided"
AS_STORED = Limit(0, because="weights are used as they are stored; choose a precision that says so, or autocast")
"""Of ``gathers_cast``: nothing is gathered, and so nothing is cast on the way."""

ALONE = {
    name: Limit(1, because="every device computes the whole model; a layout with more needs an engine that divides it")
    for name in ("tensor", "pipeline", "context", "expert", "sequence")
}
"""Of a layout: no layer, no stack of layers, no sequence and no set of experts is divided."""


@term("device", per={"role"}, source=SOURCE)
def model_parallel_devices(tensor: Any, pipeline: Any) -> Any:
    """One: a layout with more needs an engine that divides."""
    return tensor * pipeline


SINGLE_DEVICE = Component(
    name="single-device",
    slot=ENGINE,
    terms=(model_parallel_devices, *STATES, *GRADIENTS),
    defaults=WHOLE,
    limits={**ALONE, "gathers_cast": AS_STORED},
    kinds={WHOLE_WEIGHTS},
    source=SOURCE,
    left_out=FIXED,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer the single device."""
    yield SINGLE_DEVICE
