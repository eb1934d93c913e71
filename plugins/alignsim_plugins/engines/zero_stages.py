"""Stages of DeepSpeed's ZeRO as one number: what is divided, what a run may set, and what it starts from.

``zero_stage`` is 1 where the optimizer's state is divided, 2 where gradients are too, 3 where weights are as well.
"""

from __future__ import annotations

from typing import Any

from alignsim import Const, Limit, maths, term
from alignsim.limits import COUNT
from alignsim_plugins.engines.single_device import AS_STORED
from alignsim_plugins.engines.states import PARTS

ZERO = "Rajbhandari et al. 2020 (ZeRO), section 5"
DEEPSPEED = "DeepSpeed 0.19.8: deepspeed/runtime/zero"
CONFIG = f"{DEEPSPEED}/config.py, DeepSpeedZeroConfig"
GATHERED = "weights gathered module by module"
"""A kind of engine: a device gathers what it computes with as stage 3 does."""

OFFLOAD = f"{DEEPSPEED}/offload_config.py"


@term("device", per={"role"}, source=ZERO)
def model_parallel_devices(tensor: Any, pipeline: Any) -> Any:
    """One: every rank computes the whole model."""
    return tensor * pipeline


@term("device", per={"role"}, source=ZERO)
def optimizer_shards(data: Any) -> Any:
    """Every stage divides the optimizer's state."""
    return data


@term("device", per={"role"}, source=ZERO)
def gradient_shards(zero_stage: Any, data: Any) -> Any:
    """Ranks that share the gradients: from stage 2 on, all."""
    return maths.where(zero_stage >= 2, data, 1)


@term("device", per={"role"}, source=ZERO)
def weight_shards(zero_stage: Any, data: Any) -> Any:
    """Ranks that share the weights: in stage 3, all."""
    return maths.where(zero_stage >= 3, data, 1)


SHARDS = (model_parallel_devices, optimizer_shards, gradient_shards, weight_shards)

BUCKETS = {
    "reduce_bucket_size": Const(5e8, "parameter", source=f"{CONFIG}.reduce_bucket_size"),
    "overlap_comm": Const(0, source=f"{CONFIG}.overlap_comm: false below stage 3; stage 3 has one bucket either way"),
    "contiguous_gradients": Const(1, source=f"{CONFIG}.contiguous_gradients"),
    "gradient_accumulation_bytes": Const(
        0, "byte/parameter", source="DeepSpeed 0.19.8: data_types.grad_accum_dtype, as gradients are made"
    ),
    "norm_bytes": Const(8, "byte/parameter", source=f"{DEEPSPEED}/utils.py: get_norm_dtype, 64 bits"),
}
"""What gradients go through."""

GATHERS = {
    "max_live_parameters": Const(1e9, "parameter", source=f"{CONFIG}.max_live_parameters"),
    "max_reuse_distance": Const(1e9, "parameter", source=f"{CONFIG}.max_reuse_distance"),
    "prefetch_bucket_size": Const(5e7, "parameter", source=f"{CONFIG}.prefetch_bucket_size"),
    "param_persistence_threshold": Const(1e5, "parameter", source=f"{CONFIG}.param_persistence_threshold"),
    "zero_hpz_partition_size": Const(1, "device", source=f"{CONFIG}.zero_hpz_partition_size", limit=COUNT),
}
"""What stage 3 gathers, and keeps."""

STEP = {"sub_group_size": Const(1e9, "parameter", source=f"{CONFIG}.sub_group_size")}
"""Of how much stage 3 takes a step at a time."""

HOST = {
    "offload_optimizer": Const(0, source=f"{CONFIG}.offload_optimizer"),
    "offload_param": Const(0, source=f"{CONFIG}.offload_param"),
    "pinned_share": Const(
        1, low=1, high=2, source="torch: CachingHostAllocator rounds a pinned block up to a power of two"
    ),
}
"""What is kept on the host, in pinned memory (``pin_memory`` is true)."""

OPTIONS = {**BUCKETS, **GATHERS, **STEP, **HOST}

WHOLE = "ZeRO divides states, and every rank computes whole layers; use data ranks"
FLAGS = {
    "overlap_comm": Limit(1, whole=True, because="1 reduces one bucket while the next fills, 0 does not"),
    "contiguous_gradients": Limit(
        1, whole=True, because="1 copies gradients to a bucket, 0 leaves them where they are made"
    ),
    "offload_optimizer": Limit(
        1, whole=True, because="1 keeps the optimizer's state and steps on the host, 0 does not"
    ),
    "offload_param": Limit(1, whole=True, because="1 keeps the shards of weights on the host, 0 does not"),
}
LIMITS = {
    "zero_stage": Limit(3, least=1, whole=True, because="ZeRO has stages 1, 2 and 3"),
    "tensor": Limit(1, because=f"{WHOLE}; tensor parallelism beside ZeRO (AutoTP, Megatron) is not modelled"),
    "pipeline": Limit(
        1, because=f"{WHOLE}; DeepSpeed runs stages 2 and 3 in no pipeline, and stage 1 in one is not modelled"
    ),
    "sequence": Limit(1, because="sequences are not divided here; choose an engine that does, such as fsdp2"),
    "context": Limit(1, because="sequences are not divided here; choose an engine that does, such as megatron"),
    "expert": Limit(1, because="experts are not dealt out here; choose an engine that does, such as megatron"),
    "zero_hpz_partition_size": Limit(divides="data", because="secondary shards are over groups of as many ranks"),
    "gathers_cast": AS_STORED,
    "trains_parts": PARTS,
    "quantised_bits": Limit(0, because="shards of quantised weights are not modelled; choose adapter 'lora'"),
    **FLAGS,
}
"""What DeepSpeed refuses, and what is not modelled."""

WITHOUT_GATHERS = {
    "offload_param": Limit(0, because="offload_param is valid only with stage 3 (DeepSpeedZeroConfig)"),
    "zero_hpz_partition_size": Limit(1, because="secondary shards are of gathered weights, and only stage 3 gathers"),
}
"""Of stages that keep weights whole."""
