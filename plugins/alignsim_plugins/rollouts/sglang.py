"""SGLang as a tenant: weights and pool take ``mem_fraction_static`` of what is free on the device when it starts.

A forward's working set, graphs, the context and communicators come on top. Ways and names are those of vLLM.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Total, hookimpl, maths, term
from alignsim.limits import COUNT, SHARE
from alignsim_plugins.elements import FORMAT
from alignsim_plugins.rollouts.pool import POOL
from alignsim_plugins.rollouts.server import LEVELS, SERVER
from alignsim_plugins.rollouts.ways import POOLED, filled_pool, ways

SOURCE = "SGLang: srt/model_executor/model_runner.py, profile_max_num_token"

DEFAULTS = {
    "mem_fraction_static": Const(
        0.88, source="SGLang: server_args.py, mem_fraction_static of one tensor rank", limit=SHARE
    ),
    "max_batched_tokens": Const(8192, "token", source="SGLang: server_args.py, chunked_prefill_size", limit=COUNT),
    "max_sequences": Const(256, "sequence", source="SGLang: a batch of decoding sequences", limit=COUNT),
    "kv_bytes": Const(2, "byte", source="16-bit keys and values (kv_cache_dtype='auto'); 1 for fp8", limit=FORMAT),
    "varying_shapes": Const(0, source="SGLang: a pool of tokens that is made once"),
    "sleep_level": Const(2, source="SGLang: release_memory_occupation; 1 with enable_weights_cpu_backup", limit=LEVELS),
}


@term("byte", per={"role"}, during={"generate"}, resource="allocated", live=POOLED, fill=True, source=SOURCE)
def kv_cache_per_device(
    mem_fraction_static: Any, usable_memory: Any, served_weights: Any, in_use: Any = Total("device", at="load")
) -> Any:
    """What weights leave of the fraction of memory that is free before they are loaded."""
    return maths.maximum(0, mem_fraction_static * (usable_memory - (in_use - served_weights)) - served_weights)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer SGLang, sleeping or not."""
    yield from ways("sglang", (*SERVER, kv_cache_per_device, filled_pool, *POOL), DEFAULTS, SOURCE)
