"""fully_shard on every layer and on the model (FSDP2): parameters, gradients and optimizer state in equal shards.

A layer is gathered for its forward and for its backward; the root (embedding, last norm, head) from its forward to the
end of its backward. ``replicas`` makes the sharding hybrid: ``data`` ranks are so many groups of equal shards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Limit, hookimpl, term
from alignsim.limits import COUNT, SWITCH
from alignsim_plugins.engines.fsdp2_backward import BACKWARD
from alignsim_plugins.engines.fsdp2_forward import FORWARD, INFERENCE
from alignsim_plugins.engines.fsdp2_units import SOURCE, UNITS
from alignsim_plugins.engines.slot import ENGINE, SHARDED_BY_LAYER
from alignsim_plugins.engines.states import COMMUNICATION, STATES

NOT_DIVIDED = "fully_shard divides states, and every rank computes whole layers; use data ranks"


@term("device", per={"role"}, source=SOURCE)
def model_parallel_devices(tensor: Any, pipeline: Any) -> Any:
    """One: every rank computes the whole model."""
    return tensor * pipeline


OPTIONS = {
    "replicas": Const(1, "device", source="torch: fully_shard over a mesh of one dimension", limit=COUNT),
    "reshard_after_forward": Const(1, source="torch: fully_shard(reshard_after_forward=True)", limit=SWITCH),
}
TRAINING = {
    "reduce_bytes": Const(
        0, "byte/parameter", source="torch: MixedPrecisionPolicy(reduce_dtype=None), as gradients are made"
    ),
    "no_sync": Const(0, source="torch: set_requires_gradient_sync(True), every micro-batch is reduced", limit=SWITCH),
}
LIMITS = {
    **{name: Limit(1, because=NOT_DIVIDED) for name in ("tensor", "pipeline", "context", "expert")},
    "replicas": Limit(divides="data", because="every replica is as many data ranks, which share one set of shards"),
    "trains_parts": Limit(0, because="layers that backward does not reach are not modelled; choose adapter 'full'"),
    "quantised_bits": Limit(0, because="shards of quantised weights are not modelled; choose adapter 'lora'"),
}

FSDP2 = Component(
    name="fsdp2",
    slot=ENGINE,
    terms=(model_parallel_devices, *UNITS, *STATES, *FORWARD, *INFERENCE, *BACKWARD),
    defaults={**OPTIONS, **TRAINING},
    limits=LIMITS,
    kinds={SHARDED_BY_LAYER},
    source=SOURCE,
    left_out=COMMUNICATION,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer fully_shard."""
    yield FSDP2
