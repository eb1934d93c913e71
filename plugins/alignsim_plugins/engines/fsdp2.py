"""fully_shard on every layer and on the model (FSDP2): parameters, gradients and optimizer state in equal shards.

A layer is gathered for its forward and for its backward; the root (embedding, last norm, head) from its forward to the
end of its backward. The embedding may be a unit of its own (``wraps_embedding``), last norm and
head another (``wraps_head``). ``replicas`` makes the sharding
hybrid: ``data`` ranks are so many groups of equal shards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Limit, hookimpl, term
from alignsim.limits import COUNT, SWITCH
from alignsim_plugins.engines.fsdp2_backward import BACKWARD
from alignsim_plugins.engines.fsdp2_forward import FORWARD, INFERENCE
from alignsim_plugins.engines.fsdp2_units import SOURCE, UNITS
from alignsim_plugins.engines.host import OFFLOAD_LIMITS, PARKABLE
from alignsim_plugins.engines.slot import ENGINE, SHARDED_BY_LAYER
from alignsim_plugins.engines.states import COMMUNICATION, PARTS, STEP_STATES

REPLICAS = Limit(divides="data", because="every replica is as many data ranks, which share one set of shards")
NOT_DIVIDED = "fully_shard divides states, and every rank computes whole layers; use data ranks"


@term("device", per={"role"}, source=SOURCE)
def model_parallel_devices(tensor: Any, pipeline: Any, sequence: Any) -> Any:
    """One: every rank computes the whole model, unless some share the tokens of each sequence."""
    return tensor * pipeline * sequence


OPTIONS = {
    "replicas": Const(1, "device", source="torch: fully_shard over a mesh of one dimension", limit=COUNT),
    "reshard_after_forward": Const(1, source="torch: fully_shard(reshard_after_forward=True)", limit=SWITCH),
    "reshards_root": Const(0, source="torch: fully_shard(reshard_after_forward=None) on the model", limit=SWITCH),
    "wraps_embedding": Const(0, source="torch: fully_shard on layers and model alone", limit=SWITCH),
    "wraps_head": Const(0, source="torch: fully_shard on layers and model alone", limit=SWITCH),
    "gathers_next": Const(0, source="torch: no set_modules_to_forward_prefetch", limit=SWITCH),
}
TRAINING = {
    "reduce_bytes": Const(
        0, "byte/parameter", source="torch: MixedPrecisionPolicy(reduce_dtype=None), as gradients are made"
    ),
    "no_sync": Const(0, source="torch: set_requires_gradient_sync(True), every micro-batch is reduced", limit=SWITCH),
}
LIMITS = {
    **{name: Limit(1, because=NOT_DIVIDED) for name in ("tensor", "pipeline", "context", "expert")},
    **OFFLOAD_LIMITS,
    "replicas": REPLICAS,
    "trains_parts": PARTS,
    "quantised_bits": Limit(0, because="shards of quantised weights are not modelled; choose adapter 'lora'"),
}

FSDP2 = Component(
    name="fsdp2",
    slot=ENGINE,
    terms=(model_parallel_devices, *UNITS, *STEP_STATES, *PARKABLE, *FORWARD, *INFERENCE, *BACKWARD),
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
