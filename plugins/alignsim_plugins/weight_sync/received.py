"""The receiving side: weights are copied into what is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, at, hookimpl, term
from alignsim_plugins.weight_sync.slot import WEIGHT_SYNC

SOURCE = "vLLM: a worker's load_weights copies every tensor that it is handed into a parameter"


@term("byte", per={"role"}, during={"sync"}, resource="allocated", live=at("sync"), source=SOURCE)
def sync_buffers(largest_matrix: Any, compute_bytes: Any, received_tensors: Any) -> Any:
    """Whole tensors that have been received and not copied yet; none where memory of the sender is read in place."""
    return received_tensors * largest_matrix * compute_bytes


def _received(name: str, tensors: int, source: str) -> Component:
    return Component(
        name=name,
        slot=WEIGHT_SYNC,
        terms=(sync_buffers,),
        defaults={"received_tensors": Const(tensors, source=source)},
        source=source,
    )


RECEIVED = _received("received", 0, "CUDA IPC: the engine reads the trainer's memory in place")
BROADCAST = _received("received-by-broadcast", 1, "OpenRLHF: vllm_worker_wrap.py, a tensor for every broadcast")


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer the two ways to receive."""
    yield RECEIVED
    yield BROADCAST
