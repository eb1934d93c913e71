"""States in the memory of the host: for good, or while their role has nothing to do.

``offloads_parameters`` and ``offloads_optimizer`` are choices for a role: the device has the states in the role's
turns that need them, the host at all other times. An engine that never has them on its device takes :data:`ON_HOST`
instead.
"""

from __future__ import annotations

from typing import Any

from alignsim import Const, Limit, Total, after, always, at, maths, resident, span, term, while_
from alignsim.limits import COUNT
from alignsim_plugins.engines.states import NO_ADAPTERS, SOURCE, held_inputs
from alignsim_plugins.engines.turns import LOADED, TRAINING, WEIGHTS_WORK, outside

OFFLOADED = "verl: utils/fsdp_utils.py, offload_fsdp_model_to_cpu and offload_fsdp_optimizer around every phase"
PINNED = "torch: CPUOffloadPolicy(pin_memory=True) and CPUOffload(offload_params=True)"
STAYS = Const(0, source="states stay on the device")

OFFLOAD_LIMITS = {
    "offloads_parameters": Limit(
        1, whole=True, because="1 moves weights to the host between the role's turns, 0 does not"
    ),
    "offloads_optimizer": Limit(
        1, whole=True, because="1 has optimizer states on the device only in training phases, 0 always"
    ),
}


@term("byte", per={"role"}, resource="allocated", live=resident, source=SOURCE)
def held_weights(
    weights: Any, weight_shards: Any, adapter_weights: Any = NO_ADAPTERS, offloads_parameters: Any = STAYS
) -> Any:
    """Weights, and those of adapters: this device's share, where it stays."""
    return (1 - offloads_parameters) * (weights + adapter_weights) / weight_shards


@term("byte", per={"role"}, resource="allocated", live=LOADED, source=OFFLOADED)
def loaded_weights(
    weights: Any, weight_shards: Any, adapter_weights: Any = NO_ADAPTERS, offloads_parameters: Any = STAYS
) -> Any:
    """The same, where it comes for a phase and goes after it."""
    return offloads_parameters * (weights + adapter_weights) / weight_shards


@term("byte", per={"role"}, resource="host", live=outside(WEIGHTS_WORK), source=OFFLOADED)
def parked_weights(loaded_weights: Any) -> Any:
    """The same on the host; while weights are synchronised, on both."""
    return loaded_weights


@term("byte", per={"role"}, during={"train"}, resource="allocated", live=resident, source=SOURCE)
def held_master_weights(master_weights: Any, optimizer_shards: Any, offloads_optimizer: Any = STAYS) -> Any:
    """A share of the optimizer's own copy of the weights, where it stays."""
    return (1 - offloads_optimizer) * master_weights / optimizer_shards


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="allocated",
    live=resident & after("optimizer_step"),
    source="torch/optim: state is made in the first step",
)
def held_optimizer_state(optimizer_state: Any, optimizer_shards: Any, offloads_optimizer: Any = STAYS) -> Any:
    """What the optimizer keeps between steps: this device's share, where it stays."""
    return (1 - offloads_optimizer) * optimizer_state / optimizer_shards


@term("byte", per={"role"}, during={"train"}, resource="allocated", live=while_("load") | TRAINING, source=OFFLOADED)
def loaded_master_weights(master_weights: Any, optimizer_shards: Any, offloads_optimizer: Any = STAYS) -> Any:
    """The optimizer's own copy, where it comes for a training phase."""
    return offloads_optimizer * master_weights / optimizer_shards


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="allocated",
    live=TRAINING & after("optimizer_step"),
    source=OFFLOADED,
)
def loaded_optimizer_state(optimizer_state: Any, optimizer_shards: Any, offloads_optimizer: Any = STAYS) -> Any:
    """What the optimizer keeps, where it comes for a training phase."""
    return offloads_optimizer * optimizer_state / optimizer_shards


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="host",
    live=outside(TRAINING),
    source=OFFLOADED,
)
def parked_optimizer(loaded_master_weights: Any, loaded_optimizer_state: Any) -> Any:
    """All of the optimizer's on the host, in phases that do not train; before the first step, what there will be."""
    return loaded_master_weights + loaded_optimizer_state


@term("byte", per={"role"}, source="ranks of one host share its memory, and are alike")
def node_host_memory(
    data: Any,
    tensor: Any,
    pipeline: Any,
    sequence: Any,
    host: Any = Total("host"),
    devices_per_node: Any = Const(
        8, "device", source="nodes of eight devices, the most there are of in the catalogue", limit=COUNT
    ),
) -> Any:
    """What the ranks of one node take of their host, all roles together."""
    return host * maths.minimum(devices_per_node, data * tensor * pipeline * sequence)


PARKABLE = (
    held_weights,
    loaded_weights,
    parked_weights,
    held_master_weights,
    held_optimizer_state,
    loaded_master_weights,
    loaded_optimizer_state,
    parked_optimizer,
    node_host_memory,
)
"""Weights and optimizer states that may go to the host between phases."""


@term("byte", per={"role"}, resource="host", live=always, source=PINNED)
def pinned_weights(weights: Any, weight_shards: Any, adapter_weights: Any = NO_ADAPTERS) -> Any:
    """Weights, and those of adapters: this rank's share, on the host for good."""
    return (weights + adapter_weights) / weight_shards


@term("byte", per={"role"}, during={"train"}, resource="host", live=always, source=PINNED)
def host_master_weights(master_weights: Any, optimizer_shards: Any) -> Any:
    """The optimizer's own copy of the weights: the host steps it."""
    return master_weights / optimizer_shards


@term("byte", per={"role"}, during={"train"}, resource="host", live=after("optimizer_step"), source=PINNED)
def host_optimizer_state(optimizer_state: Any, optimizer_shards: Any) -> Any:
    """What the optimizer keeps between steps."""
    return optimizer_state / optimizer_shards


@term("byte", per={"role"}, during={"train"}, resource="host", live=at("optimizer_step"), source=PINNED)
def host_step_memory(step_memory: Any, optimizer_shards: Any) -> Any:
    """What the optimizer needs in a step beside gradients and state."""
    return step_memory / optimizer_shards


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="host",
    live=span("backward_last_layer", "optimizer_step"),
    source="torch 2.13: foreach_reduce copies every share to the host",
)
def host_gradients(gradients: Any, gradient_shards: Any) -> Any:
    """Gradients: shares come layer by layer, and stay until the step."""
    return gradients / gradient_shards


ON_HOST = (
    pinned_weights,
    host_master_weights,
    host_optimizer_state,
    host_step_memory,
    host_gradients,
    held_inputs,
    node_host_memory,
)
"""All states on the host; the device has the batch."""
