"""vLLM as a tenant: a role ``generator`` with weights, a process and a pool of its own takes over from the policy.

It takes a share of all of a device's memory, ``gpu_memory_utilization``: weights, a forward of the largest batch, and
what is left of the share for the pool. Captured graphs, the context and communicators come on top.

``vllm`` sleeps while others work, and the trainer stays where it is. With ``vllm-offloading`` the policy's states are
off the device while it generates. ``vllm-awake`` never sleeps: for devices of its own, and where sleeping is off.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, maths, term
from alignsim.limits import COUNT, SHARE
from alignsim_plugins.elements import FORMAT
from alignsim_plugins.rollouts.pool import POOL
from alignsim_plugins.rollouts.server import LEVELS, SERVER
from alignsim_plugins.rollouts.ways import POOLED, ways

SOURCE = "vLLM 0.10: v1/worker/gpu_worker.py, determine_available_memory"

DEFAULTS = {
    "gpu_memory_utilization": Const(0.9, source="vLLM: config, CacheConfig.gpu_memory_utilization", limit=SHARE),
    "max_batched_tokens": Const(
        8192, "token", source="vLLM: max_num_batched_tokens of an engine on large devices", limit=COUNT
    ),
    "max_sequences": Const(256, "sequence", source="vLLM: max_num_seqs", limit=COUNT),
    "kv_bytes": Const(2, "byte", source="16-bit keys and values (kv_cache_dtype='auto'); 1 for fp8", limit=FORMAT),
    "varying_shapes": Const(0, source="vLLM: blocks of one size, and a batch of at most max_num_batched_tokens"),
    "sleep_level": Const(
        1, source="vLLM: LLM.sleep(level=1), weights are backed up on the host; 2 drops them", limit=LEVELS
    ),
}


@term("byte", per={"role"}, during={"generate"}, source=SOURCE)
def kv_pool(
    gpu_memory_utilization: Any,
    usable_memory: Any,
    served_weights: Any,
    adapter_slots: Any,
    largest_forward: Any,
) -> Any:
    """What the share leaves beside weights and the largest forward; buffers that are made later are not known yet."""
    return maths.maximum(0, gpu_memory_utilization * usable_memory - served_weights - adapter_slots - largest_forward)


@term("byte", per={"role"}, during={"generate"}, resource="allocated", live=POOLED, source=SOURCE)
def kv_cache_per_device(kv_pool: Any) -> Any:
    """The pool, full or not."""
    return kv_pool


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer vLLM, sleeping or not."""
    yield from ways("vllm", (*SERVER, kv_pool, kv_cache_per_device, *POOL), DEFAULTS, SOURCE)
