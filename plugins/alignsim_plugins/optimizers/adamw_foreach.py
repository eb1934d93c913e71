"""AdamW over lists of tensors (torch's default on a GPU): a step makes square roots of all second moments at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, term
from alignsim_plugins.optimizers.adamw_fused import optimizer_state
from alignsim_plugins.optimizers.slot import OPTIMIZER

SOURCE = "torch/optim/adam.py: _multi_tensor_adam keeps exp_avg_sq_sqrt for all parameters"


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def step_memory(trainable_parameters: Any, moment_bytes: Any) -> Any:
    """Square roots of all second moments."""
    return trainable_parameters * moment_bytes


ADAMW_FOREACH = Component(name="adamw-foreach", slot=OPTIMIZER, terms=(optimizer_state, step_memory), source=SOURCE)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer AdamW over lists of tensors."""
    yield ADAMW_FOREACH
