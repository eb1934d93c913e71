"""AdamW in one kernel: nothing beside the state, but for a cast gradient where the gradients are narrower."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, term
from alignsim_plugins.optimizers.moments import IN_PLACE
from alignsim_plugins.optimizers.slot import OPTIMIZER

SOURCE = "Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019 (AdamW); torch/optim/adam.py: _fused_adam"


@term("byte", per={"role"}, during={"train"}, group="model_state", source=SOURCE)
def optimizer_state(trainable_parameters: Any, moment_bytes: Any) -> Any:
    """First and second moment of every trained parameter."""
    return trainable_parameters * moment_bytes + trainable_parameters * moment_bytes


ADAMW_FUSED = Component(name="adamw-fused", slot=OPTIMIZER, terms=(optimizer_state, *IN_PLACE), source=SOURCE)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer AdamW in one kernel."""
    yield ADAMW_FUSED
