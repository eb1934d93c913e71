"""What ZeRO keeps from step to step on the device: weights, the copy that is stepped, the optimizer's state."""

from __future__ import annotations

from typing import Any

from alignsim import after, resident, term
from alignsim_plugins.engines.states import NO_ADAPTERS
from alignsim_plugins.engines.zero_stages import CONFIG, DEEPSPEED


@term("byte", per={"role"}, resource="allocated", live=resident, source=f"{DEEPSPEED}/partition_parameters.py, Init")
def held_weights(weights: Any, weight_shards: Any, offload_param: Any, adapter_weights: Any = NO_ADAPTERS) -> Any:
    """Weights, and those of adapters: whole, or in stage 3 this rank's shards, unless these wait on the host."""
    return (1 - offload_param) * (weights + adapter_weights) / weight_shards


@term(
    "parameter",
    per={"role"},
    source=f"{DEEPSPEED}/parameter_offload.py: mark_persistent_parameters; {CONFIG}.param_persistence_threshold",
)
def persistent_parameters(
    zero_stage: Any,
    param_persistence_threshold: Any,
    layers: Any,
    norms: Any,
    norm_parameters: Any,
    attention_extra_parameters: Any,
    hidden: Any,
    qkv_bias: Any,
    query_width: Any,
    key_width: Any,
    kv_lora_rank: Any,
    experts: Any,
    ffn: Any,
    gated: Any,
    scalar_head: Any,
) -> Any:
    """Parameters of tensors so small that stage 3 keeps them gathered: norms, biases, in small models matrices too."""
    return (zero_stage >= 3) * (
        (norm_parameters <= param_persistence_threshold) * (layers * norms + 1) * norm_parameters
        + layers * attention_extra_parameters
        + scalar_head * hidden
        + qkv_bias * layers * (query_width + 2 * key_width)
        + 2
        * layers
        * hidden
        * query_width
        * (kv_lora_rank <= 0)
        * (hidden * query_width <= param_persistence_threshold)
        + 2 * layers * hidden * key_width * (kv_lora_rank <= 0) * (hidden * key_width <= param_persistence_threshold)
        + (experts > 0) * layers * experts * hidden * (experts * hidden <= param_persistence_threshold)
        + (experts <= 0) * layers * (2 + gated) * hidden * ffn * (hidden * ffn <= param_persistence_threshold)
    )


@term("byte", per={"role"}, resource="allocated", live=resident, source=f"{DEEPSPEED}/stage3.py: persistent_parameters")
def persistent_weights(persistent_parameters: Any, weight_bytes: Any) -> Any:
    """Those, whole, beside their shards."""
    return persistent_parameters * weight_bytes


@term("byte/parameter", per={"role"}, during={"train"}, source=f"{DEEPSPEED}/base_optimizer.py: master weights")
def stepped_bytes(moment_bytes: Any) -> Any:
    """Of the copy that is stepped: DeepSpeed makes one in every format, even where it is no wider than the weights."""
    return moment_bytes


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="allocated",
    live=resident,
    source=f"{DEEPSPEED}/stage_1_and_2.py: single_partition_of_fp32_groups; stage3.py: fp32_partitioned_groups_flat",
)
def held_master_weights(
    trainable_parameters: Any, stepped_bytes: Any, optimizer_shards: Any, offload_optimizer: Any
) -> Any:
    """A share of the copy of the weights that is stepped."""
    return (1 - offload_optimizer) * trainable_parameters * stepped_bytes / optimizer_shards


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="allocated",
    live=resident & after("optimizer_step"),
    source="torch/optim: state is made in the first step",
)
def held_optimizer_state(optimizer_state: Any, optimizer_shards: Any, offload_optimizer: Any) -> Any:
    """A share of what the optimizer keeps between steps."""
    return (1 - offload_optimizer) * optimizer_state / optimizer_shards


WEIGHTS = (held_weights, persistent_parameters, persistent_weights)
TRAINED_STATES = (stepped_bytes, held_master_weights, held_optimizer_state)
