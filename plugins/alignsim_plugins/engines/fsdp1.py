"""FullyShardedDataParallel on every layer and on the model (FSDP1): flat parameters in equal shards.

The root's flat parameter is all that is in no layer: embedding, last norm, head. ``replicas`` makes the sharding
hybrid: ``data`` ranks are so many groups of equal shards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Limit, hookimpl, term
from alignsim.limits import COUNT
from alignsim_plugins.engines.fsdp1_backward import BACKWARD
from alignsim_plugins.engines.fsdp1_forward import FORWARD, INFERENCE
from alignsim_plugins.engines.fsdp1_units import SOURCE, UNITS
from alignsim_plugins.engines.fsdp2 import REPLICAS, model_parallel_devices
from alignsim_plugins.engines.fsdp2_gradients import (
    accumulates_whole,
    made_gradient_bytes,
    reduction_bytes,
    trained_of_root,
)
from alignsim_plugins.engines.fsdp2_units import (
    gathered_bytes,
    gradient_shards,
    optimizer_shards,
    weight_shards,
)
from alignsim_plugins.engines.host import OFFLOAD_LIMITS, PARKABLE
from alignsim_plugins.engines.slot import ENGINE
from alignsim_plugins.engines.states import COMMUNICATION, PARTS, STEP_STATES

FLAT = "flat parameters gathered unit by unit"
"""A kind of engine: a device gathers a layer as one flat parameter, and frees the root only after a backward."""

NOT_DIVIDED = "FullyShardedDataParallel divides states, and every rank computes whole layers; use data ranks"


@term(
    "",
    per={"role"},
    during={"train"},
    source="torch: BackwardPrefetch is one of its members, or None",
    refuses="backward_prefetch and backward_prefetch_post are both 1: a layer is gathered at one instant or the other",
)
def prefetches_twice(backward_prefetch: Any, backward_prefetch_post: Any) -> Any:
    """1 where both are set."""
    return backward_prefetch * backward_prefetch_post


MODEL = (
    prefetches_twice,
    model_parallel_devices,
    weight_shards,
    gradient_shards,
    optimizer_shards,
    gathered_bytes,
    made_gradient_bytes,
    reduction_bytes,
    trained_of_root,
)
"""What units there are, and the format of their gradients."""

OPTIONS = {
    "replicas": Const(1, "device", source="torch: ShardingStrategy.FULL_SHARD, no hybrid", limit=COUNT),
    "reshard_after_forward": Const(1, source="torch: ShardingStrategy.FULL_SHARD; 0 is SHARD_GRAD_OP"),
    "reduce_bytes": Const(
        0, "byte/parameter", source="torch: MixedPrecision(reduce_dtype=None), as gradients are made"
    ),
    "use_orig_params": Const(0, source="torch: FullyShardedDataParallel(use_orig_params=False)"),
    "backward_prefetch": Const(1, source="torch: BackwardPrefetch.BACKWARD_PRE"),
    "backward_prefetch_post": Const(0, source="torch: BackwardPrefetch.BACKWARD_PRE"),
    "reshards_root": Const(0, source="torch: nothing frees the root after a forward without gradients"),
}
LIMITS = {
    **{name: Limit(1, because=NOT_DIVIDED) for name in ("tensor", "pipeline", "context", "expert")},
    "reshard_after_forward": Limit(1, whole=True, because="1 is FULL_SHARD, 0 is SHARD_GRAD_OP"),
    "use_orig_params": Limit(1, whole=True, because="1 keeps original parameters as views of flat ones, 0 does not"),
    "backward_prefetch": Limit(1, whole=True, because="1 is BACKWARD_PRE, 0 is None or BACKWARD_POST"),
    "backward_prefetch_post": Limit(1, whole=True, because="1 is BACKWARD_POST, 0 is None or BACKWARD_PRE"),
    "reshards_root": Limit(1, whole=True, because="1 frees the root after a forward without gradients, 0 does not"),
    "replicas": REPLICAS,
    "trains_parts": PARTS,
    "quantised_bits": Limit(0, because="flat parameters of quantised weights are not modelled"),
}
LEFT_OUT = (
    *COMMUNICATION,
    "fewer elements of padding than there are ranks, in each unit",
    "freed units that the allocator cannot reuse before another stream has read them: with limit_all_gathers, two",
    "adapters are taken to be wrapped apart from frozen layers; in one unit with them, all its gradients are made",
)

FSDP1 = Component(
    name="fsdp1",
    slot=ENGINE,
    terms=(*MODEL, accumulates_whole, *UNITS, *STEP_STATES, *PARKABLE, *FORWARD, *INFERENCE, *BACKWARD),
    defaults={**OPTIONS, "no_sync": Const(0, source="every micro-batch is reduced")},
    limits={
        **LIMITS,
        **OFFLOAD_LIMITS,
        "no_sync": Limit(
            1, whole=True, because="1 adds up whole gradients before the last micro-batch, 0 reduces each"
        ),
    },
    kinds={FLAT},
    source=SOURCE,
    left_out=LEFT_OUT,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer FullyShardedDataParallel."""
    yield FSDP1
