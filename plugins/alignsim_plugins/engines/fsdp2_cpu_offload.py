"""fully_shard with CPUOffloadPolicy: shards, gradients and optimizer states on the host, units on the device in turn.

A unit's shards come to the device when it is gathered, and its gradients leave when they are reduced. The optimizer
steps on the host. A role that is only asked (verl's reference) is the same without gradients.
"""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Const, hookimpl
from alignsim_plugins.engines.fsdp2 import LIMITS, OPTIONS, TRAINING, model_parallel_devices
from alignsim_plugins.engines.fsdp2_backward import BACKWARD
from alignsim_plugins.engines.fsdp2_forward import FORWARD, INFERENCE
from alignsim_plugins.engines.fsdp2_units import UNITS
from alignsim_plugins.engines.host import OFFLOAD_LIMITS, ON_HOST
from alignsim_plugins.engines.slot import ENGINE, SHARDED_BY_LAYER
from alignsim_plugins.engines.states import COMMUNICATION

SOURCE = "torch 2.13: CPUOffloadPolicy; _fsdp_param.py, all_gather_inputs; _fsdp_collectives.py, foreach_reduce"
LEAVES = Const(0, "byte", source="torch 2.13: foreach_reduce, a share on the device is freed when it is copied")
ON_DEVICE = ("layer_gradient_shard", "shards_before", "shards_made")

FSDP2_CPU_OFFLOAD = Component(
    name="fsdp2-cpu-offload",
    slot=ENGINE,
    terms=(
        model_parallel_devices,
        *UNITS,
        *ON_HOST,
        *FORWARD,
        *INFERENCE,
        *(term for term in BACKWARD if term.name not in ON_DEVICE),
    ),
    defaults={**OPTIONS, **TRAINING, **dict.fromkeys(ON_DEVICE, LEAVES)},
    limits={name: limit for name, limit in LIMITS.items() if name not in OFFLOAD_LIMITS},
    kinds={SHARDED_BY_LAYER},
    source=SOURCE,
    left_out=(*COMMUNICATION, "one parameter's share on its way to the device, and of gradients the last that leave"),
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer fully_shard with states on the host."""
    yield FSDP2_CPU_OFFLOAD
