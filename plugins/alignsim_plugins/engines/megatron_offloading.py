"""Megatron-LM whose weights, buffers of gradients and optimizer are on the device only in their role's turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from alignsim import Component, hookimpl, term, while_
from alignsim_plugins.engines.megatron import MEGATRON
from alignsim_plugins.engines.turns import AFTER_TURNS, LOADED, TRAINING, WEIGHTS_WORK, leaving, outside

SOURCE = (
    "verl b178a3cd: utils/megatron_utils.py, offload_megatron_model_to_cpu and offload_megatron_optimizer "
    "(param_offload, grad_offload, optimizer_offload): buffers are resized to nothing"
)
WEIGHTS = ("held_weights",)
STATES = ("held_gradients", "held_master_weights", "held_optimizer_state")
TRAINED = while_("load") | TRAINING


@term("byte", per={"role", "stage"}, resource="host", live=outside(WEIGHTS_WORK), source=SOURCE)
def parked_weights(held_weights: Any) -> Any:
    """Weights on the host; while weights are synchronised, on both."""
    return held_weights


@term("byte", per={"role", "stage"}, during={"train"}, resource="host", live=outside(TRAINING), source=SOURCE)
def parked_optimizer(held_master_weights: Any, held_optimizer_state: Any) -> Any:
    """The optimizer on the host; gradients are dropped."""
    return held_master_weights + held_optimizer_state


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer Megatron-LM with states that come and go."""
    yield attrs.evolve(
        MEGATRON,
        name="megatron-offloading",
        terms=(
            *leaving(leaving(MEGATRON.terms, LOADED, WEIGHTS), TRAINED, STATES),
            parked_weights,
            parked_optimizer,
        ),
        releases=AFTER_TURNS,
        source=f"{MEGATRON.source}; {SOURCE}",
    )
