"""Megatron's Adam: one kernel that needs nothing beside its state, each moment in a format of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, term
from alignsim_plugins.optimizers.slot import OPTIMIZER

SOURCE = "TransformerEngine: optimizers/fused_adam.py; Megatron-LM d98e8a64: use_precision_aware_optimizer"


@term("byte", per={"role"}, during={"train"}, group="model_state", source=SOURCE)
def optimizer_state(trainable_parameters: Any, first_moment_bytes: Any, second_moment_bytes: Any) -> Any:
    """First and second moment of every trained parameter."""
    return trainable_parameters * first_moment_bytes + trainable_parameters * second_moment_bytes


MEGATRON_ADAM = Component(
    name="megatron-adam",
    slot=OPTIMIZER,
    terms=(optimizer_state,),
    defaults={
        "first_moment_bytes": Const(4, "byte/parameter", source=f"{SOURCE}: exp_avg_dtype fp32"),
        "second_moment_bytes": Const(4, "byte/parameter", source=f"{SOURCE}: exp_avg_sq_dtype fp32"),
        "step_memory": Const(0, "byte", source=SOURCE),
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer Megatron's Adam."""
    yield MEGATRON_ADAM
