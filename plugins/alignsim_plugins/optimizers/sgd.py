"""Stochastic gradient descent: no state; and with momentum: one value a parameter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, maths, term
from alignsim.limits import SWITCH
from alignsim_plugins.optimizers.moments import last_gradient_cast
from alignsim_plugins.optimizers.slot import OPTIMIZER

SOURCE = "torch/optim/sgd.py: _multi_tensor_sgd adds in place, unless there is weight decay"


@term("byte", per={"role"}, during={"train"}, group="model_state", source="torch/optim/sgd.py: momentum_buffer")
def optimizer_state(trainable_parameters: Any, moment_bytes: Any) -> Any:
    """One momentum for every trained parameter."""
    return trainable_parameters * moment_bytes


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def step_memory(decays_weights: Any, trainable_parameters: Any, moment_bytes: Any, last_gradient_cast: Any) -> Any:
    """With weight decay, a second copy of all gradients; else what their cast for a 32-bit copy leaves last."""
    return maths.maximum(maths.where(decays_weights > 0, trainable_parameters * moment_bytes, 0), last_gradient_cast)


DECAY = {"decays_weights": Const(0, source="torch.optim.SGD: weight_decay=0", limit=SWITCH)}

SGD = Component(
    name="sgd",
    slot=OPTIMIZER,
    terms=(last_gradient_cast, step_memory),
    defaults={**DECAY, "optimizer_state": OPTIMIZER.none.defaults["optimizer_state"]},
    source=SOURCE,
)
SGD_MOMENTUM = Component(
    name="sgd-momentum",
    slot=OPTIMIZER,
    terms=(optimizer_state, last_gradient_cast, step_memory),
    defaults=DECAY,
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer both."""
    yield from (SGD, SGD_MOMENTUM)
