"""FullyShardedDataParallel with CPUOffload: shards, their gradients and optimizer states pinned on the host.

A unit's share comes to the device before it is gathered. Shares of gradients are copied to the host, but stay on the
device until backward ends. Several micro-batches work under ``no_sync`` alone: shares would replace each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, always, hookimpl, term
from alignsim_plugins.engines.fsdp1 import FLAT, LEFT_OUT, LIMITS, MODEL, OPTIONS
from alignsim_plugins.engines.fsdp1_backward import BACKWARD
from alignsim_plugins.engines.fsdp1_forward import FORWARD, INFERENCE
from alignsim_plugins.engines.fsdp1_units import UNITS
from alignsim_plugins.engines.host import ON_HOST
from alignsim_plugins.engines.slot import ENGINE

SOURCE = "torch 2.13: CPUOffload(offload_params=True); _flat_param.py, init_flat_param_attributes and _cpu_grad"


@term("", per={"role"}, during={"train"}, source="torch: FullyShardedDataParallel, notes on no_sync and CPU offloading")
def accumulates_whole(accumulation_steps: Any) -> Any:
    """Of several micro-batches, only the last is reduced."""
    return 1 * (accumulation_steps > 1)


@term("byte", per={"role"}, resource="host", live=always, source=SOURCE)
def pinned_gradients(pinned_weights: Any) -> Any:
    """Every flat parameter has a place for its gradient there, trained or not."""
    return pinned_weights


FSDP1_CPU_OFFLOAD = Component(
    name="fsdp1-cpu-offload",
    slot=ENGINE,
    terms=(
        *MODEL,
        accumulates_whole,
        *(term for term in UNITS if term.name != "casts_shards"),
        *(term for term in ON_HOST if term.name != "host_gradients"),
        pinned_gradients,
        *FORWARD,
        *INFERENCE,
        *(term for term in BACKWARD if term.name != "gradients_left"),
    ),
    defaults={
        **OPTIONS,
        "casts_shards": Const(1, source=f"{SOURCE}: a share is copied to the device before it is gathered"),
    },
    limits=LIMITS,
    kinds={FLAT},
    source=SOURCE,
    left_out=LEFT_OUT,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer FullyShardedDataParallel with states on the host."""
    yield FSDP1_CPU_OFFLOAD
