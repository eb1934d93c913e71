"""What ZeRO keeps on the host for one rank: offloaded states, in pinned memory, and what they travel through."""

from __future__ import annotations

from typing import Any

from alignsim import after, maths, resident, term
from alignsim_plugins.engines.host import node_host_memory
from alignsim_plugins.engines.states import NO_ADAPTERS
from alignsim_plugins.engines.zero_gradients import STAGE_1_2, STAGE_3
from alignsim_plugins.engines.zero_stages import DEEPSPEED


@term(
    "byte", per={"role"}, resource="host", live=resident, source=f"{DEEPSPEED}/partition_parameters.py: remote_device"
)
def weights_on_host(
    weights: Any, weight_shards: Any, offload_param: Any, pinned_share: Any, adapter_weights: Any = NO_ADAPTERS
) -> Any:
    """Shards of weights."""
    return offload_param * pinned_share * (weights + adapter_weights) / weight_shards


@term("byte", per={"role"}, during={"train"}, resource="host", live=resident, source=f"{STAGE_1_2}; {STAGE_3}")
def stepped_on_host(
    offload_optimizer: Any,
    pinned_share: Any,
    trainable_parameters: Any,
    stepped_bytes: Any,
    optimizer_shards: Any,
    zero_stage: Any,
    weight_bytes: Any,
) -> Any:
    """The copy that is stepped and its gradient; in stages 1 and 2 a copy in the weights' format, to send back."""
    return (
        offload_optimizer
        * pinned_share
        * (2 * stepped_bytes + (zero_stage < 3) * weight_bytes)
        * trainable_parameters
        / optimizer_shards
    )


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="host",
    live=resident & after("optimizer_step"),
    source="DeepSpeed 0.19.8: ops/adam/cpu_adam.py makes state in the first step",
)
def optimizer_state_on_host(optimizer_state: Any, optimizer_shards: Any, offload_optimizer: Any) -> Any:
    """What the optimizer keeps between steps; it is not pinned."""
    return offload_optimizer * optimizer_state / optimizer_shards


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="host",
    live=resident,
    source=f"{STAGE_1_2}: accumulated_grads_in_cpu, temp_grad_buffer_for_cpu_offload; {STAGE_3}: grad_partitions_flat",
)
def gradients_on_host(
    offload_optimizer: Any,
    pinned_share: Any,
    trainable_parameters: Any,
    made_gradient_bytes: Any,
    kept_gradient_bytes: Any,
    optimizer_shards: Any,
    zero_stage: Any,
    accumulation_steps: Any,
    largest_trained: Any,
) -> Any:
    """Shares that are added up from micro-batch to micro-batch, in stage 3 always; below it, one parameter's buffer."""
    return (
        offload_optimizer
        * pinned_share
        * maths.where(
            zero_stage < 3,
            (accumulation_steps > 1) * made_gradient_bytes * trainable_parameters / optimizer_shards
            + made_gradient_bytes * largest_trained,
            kept_gradient_bytes * trainable_parameters / optimizer_shards,
        )
    )


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="allocated",
    live=resident,
    source=f"{STAGE_1_2}: temp_grad_buffer_for_gpu_offload",
)
def offload_buffer(offload_optimizer: Any, zero_stage: Any, made_gradient_bytes: Any, largest_trained: Any) -> Any:
    """On the device: a place for the largest gradient on its way, in stages 1 and 2."""
    return offload_optimizer * (zero_stage < 3) * made_gradient_bytes * largest_trained


ON_HOST = (weights_on_host, node_host_memory)
TRAINED_ON_HOST = (stepped_on_host, optimizer_state_on_host, gradients_on_host, offload_buffer)
