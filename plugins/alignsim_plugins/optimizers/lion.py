"""Lion: one momentum a parameter, and the sign of an update."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, term
from alignsim_plugins.elements import FP32
from alignsim_plugins.optimizers.moments import IN_PLACE
from alignsim_plugins.optimizers.slot import OPTIMIZER

SOURCE = "Chen et al. 2023 (Lion), algorithm 2; bitsandbytes 0.50: optim/lion.py, the lion_32bit of transformers"


@term("byte", per={"role"}, during={"train"}, group="model_state", source=SOURCE)
def optimizer_state(trainable_parameters: Any, fp32: Any = FP32) -> Any:
    """One momentum in 32 bits for every trained parameter, whatever its own format."""
    return trainable_parameters * fp32


LION = Component(
    name="lion",
    slot=OPTIMIZER,
    terms=(optimizer_state, *IN_PLACE),
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer Lion."""
    yield LION
