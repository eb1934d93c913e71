"""AdamW one tensor at a time: two temporaries of the largest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, term
from alignsim_plugins.optimizers.adamw_fused import optimizer_state
from alignsim_plugins.optimizers.slot import OPTIMIZER

SOURCE = "torch/optim/adam.py: _single_tensor_adam, exp_avg_sq.sqrt() / bias_correction2_sqrt"


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def step_memory(largest_trained: Any, moment_bytes: Any) -> Any:
    """The square root of a second moment, and that corrected for bias."""
    return 2 * largest_trained * moment_bytes


ADAMW_LOOP = Component(name="adamw-loop", slot=OPTIMIZER, terms=(optimizer_state, step_memory), source=SOURCE)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer AdamW in a loop."""
    yield ADAMW_LOOP
