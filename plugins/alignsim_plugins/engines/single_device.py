"""One device that holds everything: nothing is divided, nothing is gathered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, after, hookimpl, resident, term, while_
from alignsim_plugins.engines.slot import ENGINE

SOURCE = "one device: nothing is divided"
NO_ADAPTERS = Const(0, "byte", source="a role that is not trained has no adapters of its own")


@term("device", per={"role"}, source=SOURCE)
def model_parallel_devices(tensor: Any, pipeline: Any) -> Any:
    """One: a layout with more needs an engine that divides."""
    return tensor * pipeline


@term("byte", per={"role"}, resource="device", live=resident, source=SOURCE)
def held_weights(weights: Any, adapter_weights: Any = NO_ADAPTERS) -> Any:
    """Weights, and those of adapters."""
    return weights + adapter_weights


@term("byte", per={"role"}, during={"train"}, resource="device", live=resident, source=SOURCE)
def held_master_weights(master_weights: Any) -> Any:
    """The optimizer's own copy of the weights, made when the optimizer is."""
    return master_weights


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="device",
    live=resident & after("optimizer_step"),
    source="torch/optim: state is made in the first step",
)
def held_optimizer_state(optimizer_state: Any) -> Any:
    """What the optimizer keeps between steps."""
    return optimizer_state


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="device",
    live=while_("train", "infer", "generate", "idle"),
    source=SOURCE,
)
def held_inputs(tokens: Any, input_bytes: Any) -> Any:
    """Token ids, labels and masks of a batch."""
    return tokens * input_bytes


SINGLE_DEVICE = Component(
    name="single-device",
    slot=ENGINE,
    terms=(model_parallel_devices, held_weights, held_master_weights, held_optimizer_state, held_inputs),
    source=SOURCE,
    left_out=(
        "the device's context, workspaces of libraries, and what the allocator rounds up, caches and fragments",
        "buffers for communication: data-parallel replicas reduce gradients through buckets of their own",
    ),
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer the single device."""
    yield SINGLE_DEVICE
