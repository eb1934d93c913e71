"""States between steps, whole or in equal shares: three numbers of devices say how far an engine divides."""

from __future__ import annotations

from typing import Any

from alignsim import Const, Limit, after, at, resident, span, term, while_
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.elements import INPUTS

SOURCE = "Rajbhandari et al. 2020 (ZeRO), section 5: states divided by the devices that share them"
NO_ADAPTERS = Const(0, "byte", source="a role that is not trained has no adapters of its own")


@term("byte", per={"role"}, resource="allocated", live=resident, source=SOURCE)
def held_weights(weights: Any, weight_shards: Any, adapter_weights: Any = NO_ADAPTERS) -> Any:
    """Weights, and those of adapters: this device's share."""
    return (weights + adapter_weights) / weight_shards


@term("byte", per={"role"}, during={"train"}, resource="allocated", live=resident, source=SOURCE)
def held_master_weights(master_weights: Any, optimizer_shards: Any) -> Any:
    """A share of the optimizer's own copy of the weights, made when the optimizer is."""
    return master_weights / optimizer_shards


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="allocated",
    live=resident & after("optimizer_step"),
    source="torch/optim: state is made in the first step",
)
def held_optimizer_state(optimizer_state: Any, optimizer_shards: Any) -> Any:
    """What the optimizer keeps between steps: this device's share."""
    return optimizer_state / optimizer_shards


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="allocated",
    live=while_("train", "infer", "generate", "idle"),
    source="every rank has a batch of its own",
)
def held_inputs(tokens: Any, sequence: Any, input_bytes: Any = INPUTS) -> Any:
    """Token ids, labels and masks of a batch.

    Ranks that share its sequences are each given all of them.
    """
    return tokens * sequence * input_bytes


@trained(live=span("backward_end", "optimizer_step", without=("backward_end", "optimizer_step")), source=SOURCE)
def gradients_before_the_step(gradients: Any, gradient_shards: Any) -> Any:
    """A share of all gradients, while others work."""
    return gradients / gradient_shards


@trained(live=at("optimizer_step"), source=SOURCE)
def gradients_at_the_step(trainable_parameters: Any, moment_bytes: Any, gradient_shards: Any) -> Any:
    """A share of all gradients, in the format of what is stepped."""
    return trainable_parameters * moment_bytes / gradient_shards


@trained(live=at("optimizer_step"), source=SOURCE)
def optimizer_temporaries(step_memory: Any, optimizer_shards: Any) -> Any:
    """What the optimizer needs for its share, beside gradients and state."""
    return step_memory / optimizer_shards


STEP_STATES = (held_inputs, gradients_before_the_step, gradients_at_the_step, optimizer_temporaries)
"""The batch, and what a step needs."""

STATES = (held_weights, held_master_weights, held_optimizer_state, *STEP_STATES)
"""All states, on the device while their role is."""

WHOLE = {
    name: Const(1, "device", source="one device: nothing is divided")
    for name in ("weight_shards", "gradient_shards", "optimizer_shards")
}
"""Nothing is divided."""

FIXED = ("other programs on the device, such as a display",)
"""What an engine that counts its own process leaves out."""

COMMUNICATION = (*FIXED, "buffers that NCCL adds for algorithms such as NVLS, and for every peer of an all-to-all")
"""The same where devices communicate."""

PARTS = Limit(0, because="layers that backward does not reach are not modelled; choose adapter 'full'")
"""Of ``trains_parts``: an engine that does not follow backward to where it ends."""
