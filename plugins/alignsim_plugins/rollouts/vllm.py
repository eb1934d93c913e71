"""vLLM as a tenant: a role ``generator`` with weights, a process and a pool of its own takes over from the policy.

It takes a share of all of a device's memory, ``gpu_memory_utilization``: weights, a forward of the largest batch, and
what is left of the share for the pool. Captured graphs, the context and communicators come on top.

``vllm`` sleeps while others work, and the trainer stays where it is. With ``vllm-offloading`` the policy's states are
off the device while it generates. ``vllm-awake`` never sleeps: for devices of its own, and where sleeping is off.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Tenant, Total, hookimpl, maths, term, while_
from alignsim.limits import COUNT, SHARE
from alignsim_plugins.adapters.full import FULL
from alignsim_plugins.elements import FORMAT
from alignsim_plugins.engines.served import SERVED
from alignsim_plugins.precisions.bf16 import BF16
from alignsim_plugins.rollouts.pool import POOL
from alignsim_plugins.rollouts.server import AWAKE, SERVER, TAKING
from alignsim_plugins.rollouts.slot import ROLLOUT
from alignsim_plugins.weight_sync.received import RECEIVED

SOURCE = "vLLM 0.10: v1/worker/gpu_worker.py, determine_available_memory"
OLDER = "vLLM 0.9: v1/worker/gpu_worker.py, determine_available_memory: all that is in use but for tensors counts"

DEFAULTS = {
    "gpu_memory_utilization": Const(0.9, source="vLLM: config, CacheConfig.gpu_memory_utilization", limit=SHARE),
    "max_batched_tokens": Const(
        8192, "token", source="vLLM: max_num_batched_tokens of an engine on large devices", limit=COUNT
    ),
    "max_sequences": Const(256, "sequence", source="vLLM: max_num_seqs", limit=COUNT),
    "kv_bytes": Const(2, "byte", source="16-bit keys and values (kv_cache_dtype='auto'); 1 for fp8", limit=FORMAT),
    "varying_shapes": Const(0, source="vLLM: blocks of one size, and a batch of at most max_num_batched_tokens"),
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


@term(
    "byte",
    per={"role"},
    during={"generate"},
    resource="allocated",
    live=while_("generate", "served", "taking"),
    source=SOURCE,
)
def kv_cache_per_device(kv_pool: Any) -> Any:
    """The pool, full or not."""
    return kv_pool


@term(
    "byte",
    per={"role"},
    during={"generate"},
    resource="allocated",
    live=while_("generate", "served", "taking"),
    fill=True,
    source=OLDER,
    name="kv_cache_per_device",
)
def older_pool(
    gpu_memory_utilization: Any,
    usable_memory: Any,
    largest_forward: Any,
    in_use: Any = Total("device", at="load"),
) -> Any:
    """What the share leaves beside all that is in use on the device when the engine starts, and the largest forward."""
    return maths.maximum(0, gpu_memory_utilization * usable_memory - in_use - largest_forward)


@term("byte", per={"role"}, during={"generate"}, source=OLDER, name="kv_pool")
def older_kv_pool(kv_cache_per_device: Any) -> Any:
    """The pool."""
    return kv_cache_per_device


NEWER = (*SERVER, kv_pool, kv_cache_per_device, *POOL)
OLD = (*SERVER, older_pool, older_kv_pool, *POOL)


def tenant(**changes: Any) -> Tenant:
    """Return the role that vLLM brings."""
    own = {"adapter": FULL, "engine": SERVED, "precision": BF16, "weight_sync": RECEIVED}
    return Tenant(**{"role": "generator", "process": "generator", "components": own, **changes})


SLEEPING = tenant()
OFFLOADING = tenant(meanwhile="offloaded")
NEVER_SLEEPING = tenant(otherwise=AWAKE, syncs=TAKING)


def component(name: str, brings: Tenant, terms: Any = NEWER, source: str = SOURCE) -> Component:
    """Return vLLM in one of its ways."""
    return Component(name=name, slot=ROLLOUT, terms=terms, defaults=DEFAULTS, tenant=brings, source=source)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer vLLM, sleeping or not, of today and as it was."""
    yield component("vllm", SLEEPING)
    yield component("vllm-offloading", OFFLOADING)
    yield component("vllm-awake", NEVER_SLEEPING)
    yield component("vllm-0.9", SLEEPING, OLD, OLDER)
