"""The sending side: a sharded trainer gathers its parameters one by one, into a bucket, or all at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, at, hookimpl, term, while_
from alignsim.schedule import Liveness, Schedule
from alignsim_plugins.weight_sync.slot import WEIGHT_SYNC

UNSHARDED = Const(1, "device", source="an engine that says nothing else holds whole weights")

GIVES_BACK = at("sync")
"""TRL, verl and OpenRLHF empty their allocator's cache before an engine wakes up."""


def _sync_and_next(schedule: Schedule, phase: str | None, role: str | None) -> frozenset[int]:
    during = GIVES_BACK.picks(schedule, phase, role)
    handing = while_("sync").picks(schedule, phase, role)
    return during | {event + 1 for event in during | handing if event + 1 < len(schedule.events)}


GIVES_BACK_TWICE = Liveness("at sync and right after it", _sync_and_next, ("sync",))
"""verl does so again when it has sent, before the engine takes its pool."""


@term(
    "byte",
    per={"role"},
    during={"sync"},
    resource="allocated",
    live=at("sync"),
    source="verl: fsdp_workers.py; TRL: vllm_generation.py; OpenRLHF: a parameter is gathered, copied and sent",
)
def sync_buffers(
    largest_matrix: Any, weight_bytes: Any, sync_copies: Any, sync_bucket: Any, weight_shards: Any = UNSHARDED
) -> Any:
    """The largest parameter, whole, as stored, so many times; and a bucket of those that wait to be sent."""
    return ((weight_shards > 1) + sync_copies) * largest_matrix * weight_bytes + sync_bucket


@term(
    "byte",
    per={"role"},
    during={"sync"},
    resource="allocated",
    live=at("sync"),
    source="TRL: vllm_generation.py gathers all parameters to merge adapters into them; verl: collect_lora_params",
    name="sync_buffers",
)
def whole_model(weights: Any, weight_shards: Any = UNSHARDED) -> Any:
    """All weights, gathered."""
    return (weight_shards > 1) * weights


def _one_by_one(name: str, copies: int, bucket: str, source: str, releases: Liveness = GIVES_BACK) -> Component:
    defaults = {
        "sync_copies": Const(copies, source=source),
        "sync_bucket": Const(bucket, "byte", source=source),
    }
    return Component(
        name=name, slot=WEIGHT_SYNC, terms=(sync_buffers,), defaults=defaults, releases=releases, source=source
    )


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer the ways of frameworks."""
    yield _one_by_one(
        "one-by-one", 0, "0 B", "TRL: trl/generation/vllm_generation.py, a full tensor for every parameter"
    )
    yield _one_by_one("one-by-one-copied", 1, "0 B", "OpenRLHF: a gathered parameter is cloned for CUDA IPC")
    bucket = "verl: update_weights_bucket_megabytes=2048, full tensors are copied in"
    yield _one_by_one("bucketed", 0, "2 GiB", bucket, GIVES_BACK_TWICE)
    yield Component(
        name="whole-model",
        slot=WEIGHT_SYNC,
        terms=(whole_model,),
        releases=GIVES_BACK,
        source="TRL: PEFT under ZeRO-3, and verl: LoRA without layered_summon, gather the whole model",
    )
