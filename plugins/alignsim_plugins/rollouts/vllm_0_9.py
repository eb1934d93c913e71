"""vLLM as it was up to 0.9: all that is in use on the device when it starts counts against its share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Total, hookimpl, maths, term
from alignsim_plugins.rollouts.pool import POOL
from alignsim_plugins.rollouts.server import SERVER
from alignsim_plugins.rollouts.slot import ROLLOUT
from alignsim_plugins.rollouts.vllm import DEFAULTS
from alignsim_plugins.rollouts.ways import POOLED, SLEEPING, filled_pool

SOURCE = "vLLM 0.9: v1/worker/gpu_worker.py, determine_available_memory: all that is in use but for tensors counts"


@term("byte", per={"role"}, during={"generate"}, resource="allocated", live=POOLED, fill=True, source=SOURCE)
def kv_cache_per_device(
    gpu_memory_utilization: Any,
    usable_memory: Any,
    largest_forward: Any,
    in_use: Any = Total("device", at="load"),
) -> Any:
    """What the share leaves beside all that is in use on the device when the engine starts, and the largest forward."""
    return maths.maximum(0, gpu_memory_utilization * usable_memory - in_use - largest_forward)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer vLLM as it was."""
    yield Component(
        name="vllm-0.9",
        slot=ROLLOUT,
        terms=(*SERVER, kv_cache_per_device, filled_pool, *POOL),
        defaults=DEFAULTS,
        tenant=SLEEPING,
        source=SOURCE,
    )
