"""What a rollout engine holds beside weights and pool: a working set, captured graphs, adapters, leftovers."""

from __future__ import annotations

from typing import Any

from alignsim import Const, Limit, always, at, maths, resident, term, while_
from alignsim_plugins.elements import FP32

PROFILE = "vLLM: v1/worker/gpu_worker.py, determine_available_memory: a forward of the largest batch, then its sampler"
RESIDUE = (
    "NVIDIA-NeMo/RL#223: what a process of vLLM keeps on an H100 while it sleeps, less its context and communicators"
)

LEVELS = Limit(2, "1 keeps weights on the host, 2 drops them", least=1, whole=True)
"""Of ``sleep_level``."""

SLEEP = "vLLM: device_allocator/cumem.py, sleep; v1/worker/gpu_worker.py, sleep(level)"
GRAPHS = Const("1 GiB", "byte", low="0.5 GiB", high="2 GiB", source="vLLM: captured CUDA graphs, 0.5 to 2 GB")
EAGER = Const(0, source="graphs are captured; 1: enforce_eager")
ONE_RANK = Const("348 MiB", "byte", low="0 B", high="348 MiB", source=f"{RESIDUE}: 774 MiB of one rank")
SEVERAL_RANKS = Const(
    "1230 MiB", "byte", low="0 B", high="6182 MiB", source=f"{RESIDUE}: 2440 to 7392 MiB of each of two tensor ranks"
)
NO_ADAPTERS = Const(0, source="no adapters are served; else how many at once (max_loras)")
RANK = Const(16, source="vLLM: max_lora_rank")


@term("byte", per={"role"}, during={"generate"}, resource="allocated", live=at("prefill", "decode"), source=PROFILE)
def largest_forward(
    max_batched_tokens: Any,
    max_sequences: Any,
    mlp_width: Any,
    hidden: Any,
    vocab: Any,
    tensor: Any,
    compute_bytes: Any,
    fp32: Any = FP32,
) -> Any:
    """Gate and up, residual, norm and attention of the largest batch; logits, their copy in 32 bits, probabilities."""
    return compute_bytes * max_batched_tokens * (2 * mlp_width / tensor + 3 * hidden) + max_sequences * vocab * (
        compute_bytes + 2 * fp32
    )


@term(
    "byte",
    per={"role"},
    during={"generate"},
    resource="device",
    live=always,
    source="vLLM: v1/worker/gpu_model_runner.py, capture_model",
)
def captured_graphs(graph_memory: Any = GRAPHS, eager: Any = EAGER) -> Any:
    """CUDA graphs: they stay while the engine sleeps."""
    return (1 - eager) * graph_memory


@term("byte", per={"role"}, during={"generate"}, resource="device", live=always, source=RESIDUE)
def engine_leftovers(
    tensor: Any, pipeline: Any, one_rank_leftovers: Any = ONE_RANK, several_ranks_leftovers: Any = SEVERAL_RANKS
) -> Any:
    """What an engine takes outside tensors, asleep or not: modules, workspaces, buffers of its own collectives."""
    return maths.where(tensor * pipeline > 1, several_ranks_leftovers, one_rank_leftovers)


@term("byte", per={"role"}, during={"generate"}, resource="allocated", live=resident, source="vLLM: lora/layers")
def adapter_slots(
    layers: Any,
    hidden: Any,
    query_width: Any,
    key_width: Any,
    mlp_width: Any,
    compute_bytes: Any,
    served_adapters: Any = NO_ADAPTERS,
    served_rank: Any = RANK,
) -> Any:
    """Room for adapters of all linear layers, whole on every rank."""
    return (
        served_adapters
        * served_rank
        * compute_bytes
        * layers
        * (7 * hidden + 2 * query_width + 2 * key_width + 3 * mlp_width)
    )


@term("byte", per={"role"}, during={"asleep"}, resource="host", live=while_("asleep"), source=SLEEP)
def sleeping_weights(served_weights: Any, sleep_level: Any) -> Any:
    """At level 1 weights sleep on the host, in pinned memory; at level 2 they are dropped, and handed over anew."""
    return (sleep_level <= 1) * served_weights


SERVER = (largest_forward, captured_graphs, engine_leftovers, adapter_slots, sleeping_weights)
