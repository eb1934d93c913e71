"""Weights of a rollout engine: divided over its tensor and pipeline ranks, and never trained.

Norms and routers, of which every tensor rank has a copy, and what vocabularies are padded to are counted as divided.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, resident, term
from alignsim_plugins.engines.gradients import MADE
from alignsim_plugins.engines.slot import ENGINE
from alignsim_plugins.engines.states import COMMUNICATION

SOURCE = "Shoeybi et al. 2019 (Megatron-LM), sec. 3; vLLM: model_executor/layers/linear.py"


@term("device", per={"role"}, source=SOURCE)
def model_parallel_devices(tensor: Any, pipeline: Any) -> Any:
    """Devices that hold one copy of the model together."""
    return tensor * pipeline


@term("byte", per={"role"}, resource="allocated", live=resident, source=SOURCE)
def served_weights(weights: Any, model_parallel_devices: Any) -> Any:
    """The engine's own copy of the weights: this device's part."""
    return weights / model_parallel_devices


SERVED = Component(
    name="served",
    slot=ENGINE,
    terms=(model_parallel_devices, served_weights, *MADE),
    defaults={"gradient_shards": Const(1, "device", source="nothing is trained")},
    never={"train": "it only generates; choose an engine that trains"},
    source=SOURCE,
    left_out=COMMUNICATION,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer weights that are only served."""
    yield SERVED
