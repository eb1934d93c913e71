"""An even split over tensor and pipeline ranks: every device holds the same share, and data ranks hold copies.

The simplest engine, and the reference case's. It leaves out that the first stage carries the embedding and the last
the head, and that key and value heads are not divided beyond their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Limit, hookimpl, resident, term
from alignsim_plugins.engines.gradients import MADE
from alignsim_plugins.engines.single_device import AS_STORED
from alignsim_plugins.engines.slot import ENGINE, WHOLE_WEIGHTS
from alignsim_plugins.engines.states import FIXED

SOURCE = "the reference case: state / (tensor x pipeline)"


@term("", per={"role"}, source=SOURCE)
def model_parallel_devices(tensor: Any, pipeline: Any) -> Any:
    """Devices that hold one copy of a model together."""
    return tensor * pipeline


@term("byte", per={"role"}, resource="allocated", live=resident, source=SOURCE)
def model_state_per_device(model_state: Any, model_parallel_devices: Any) -> Any:
    """An even share of a role's weights, gradients and optimizer state."""
    return model_state / model_parallel_devices


EVEN_SPLIT = Component(
    name="even-split",
    slot=ENGINE,
    terms=(model_parallel_devices, model_state_per_device, *MADE),
    defaults={"gradient_shards": Const(1, "device", source=SOURCE)},
    limits={
        "gathers_cast": AS_STORED,
        "sequence": Limit(1, because="sequences are not divided here; choose an engine that does, such as fsdp2"),
        "context": Limit(1, because="sequences are not divided here; choose an engine that does, such as megatron"),
        "expert": Limit(1, because="experts are not dealt out here; choose an engine that does, such as megatron"),
    },
    kinds={WHOLE_WEIGHTS},
    source=SOURCE,
    left_out=(
        *FIXED,
        "sharding over data-parallel replicas: each holds a copy",
        "the embedding on the first pipeline stage and the head on the last: all stages are even",
    ),
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer the even split."""
    yield EVEN_SPLIT
