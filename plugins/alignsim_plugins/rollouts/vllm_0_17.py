"""vLLM from 0.17 on: an estimate of the graphs that it will capture is taken off its pool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, maths, term
from alignsim_plugins.rollouts.pool import POOL
from alignsim_plugins.rollouts.server import SERVER
from alignsim_plugins.rollouts.vllm import DEFAULTS
from alignsim_plugins.rollouts.ways import POOLED, filled_pool, ways

SOURCE = "vLLM 0.17: v1/worker/gpu_worker.py, determine_available_memory: less an estimate of CUDA graphs"


@term("byte", per={"role"}, during={"generate"}, resource="allocated", live=POOLED, fill=True, source=SOURCE)
def kv_cache_per_device(
    gpu_memory_utilization: Any,
    usable_memory: Any,
    served_weights: Any,
    adapter_slots: Any,
    largest_forward: Any,
    captured_graphs: Any,
) -> Any:
    """What the share leaves beside weights, the largest forward and the graphs that will be captured."""
    return maths.maximum(
        0, gpu_memory_utilization * usable_memory - served_weights - adapter_slots - largest_forward - captured_graphs
    )


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer vLLM of today, sleeping or not."""
    yield from ways("vllm-0.17", (*SERVER, kv_cache_per_device, filled_pool, *POOL), DEFAULTS, SOURCE)
