"""fully_shard on every layer and on the model (FSDP2): parameters, gradients and optimizer state in equal shards.

A layer is gathered for its forward and for its backward; the root (embedding, last norm, head) from its forward to the
end of its backward. ``replicas`` makes the sharding hybrid: ``data`` ranks are so many groups of equal shards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Limit, hookimpl, term
from alignsim_plugins.engines.fsdp2_backward import BACKWARD
from alignsim_plugins.engines.fsdp2_forward import FORWARD, INFERENCE
from alignsim_plugins.engines.fsdp2_units import SOURCE, UNITS
from alignsim_plugins.engines.slot import ENGINE
from alignsim_plugins.engines.states import COMMUNICATION, STATES

NOT_DIVIDED = "fully_shard divides states, and every rank computes whole layers; use data ranks"


@term("device", per={"role"}, source=SOURCE)
def model_parallel_devices(tensor: Any, pipeline: Any) -> Any:
    """One: every rank computes the whole model."""
    return tensor * pipeline


OPTIONS = {
    "replicas": Const(1, "device", source="torch: fully_shard over a mesh of one dimension"),
    "reshard_after_forward": Const(1, source="torch: fully_shard(reshard_after_forward=True)"),
}
TRAINING = {
    "reduce_bytes": Const(
        0, "byte/parameter", source="torch: MixedPrecisionPolicy(reduce_dtype=None), as gradients are made"
    ),
    "no_sync": Const(0, source="torch: set_requires_gradient_sync(True), every micro-batch is reduced"),
}
LIMITS = {
    **{name: Limit(1, because=NOT_DIVIDED) for name in ("tensor", "pipeline", "context", "expert")},
    "reshard_after_forward": Limit(1, because="1 shards every layer again after its forward, 0 does not"),
    "no_sync": Limit(1, because="1 adds up whole gradients before the last micro-batch, 0 reduces each"),
    "quantised_bits": Limit(0, because="shards of quantised weights are not modelled; choose adapter 'lora'"),
}

FSDP2 = Component(
    name="fsdp2",
    slot=ENGINE,
    terms=(model_parallel_devices, *UNITS, *STATES, *FORWARD, *INFERENCE, *BACKWARD),
    defaults={**OPTIONS, **TRAINING},
    limits=LIMITS,
    source=SOURCE,
    left_out=COMMUNICATION,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer fully_shard."""
    yield FSDP2
