"""What a pipeline stage of Megatron holds between steps: weights, buffers of gradients, the optimizer's shards."""

from __future__ import annotations

from typing import Any

from alignsim import Const, after, at, maths, resident, term
from alignsim.limits import SHARE
from alignsim_plugins.activations.instants import trained_on_stage
from alignsim_plugins.engines.states import SOURCE as ZERO
from alignsim_plugins.engines.states import held_inputs

BUFFERS = "Megatron-LM d98e8a64: core/distributed/param_and_grad_buffer.py"
OPTIMIZER = "Megatron-LM d98e8a64: core/optimizer/distrib_optimizer.py"
OFFLOAD = "Megatron-LM d98e8a64: core/optimizer/cpu_offloading/hybrid_optimizer.py"
WORKSPACES = "TransformerEngine: module/base.py, 32 MiB on Hopper; PyTorch: CUBLAS_WORKSPACE_CONFIG, 32 MiB a stream"


@term("parameter", per={"role", "stage"}, source="Narayanan et al. 2021, section 2.2; tied embeddings on both ends")
def stage_parameters(
    stage_dense_layers: Any,
    dense_layer_parameters: Any,
    stage_expert_layers: Any,
    expert_layer_parameters: Any,
    has_embedding: Any,
    embedding_parameters: Any,
    has_head: Any,
    norm_parameters: Any,
    head_parameters: Any,
    tied: Any,
    scalar_head: Any,
    embedding_matrix: Any,
) -> Any:
    """Parameters of a rank on this stage: its layers, the embedding first, last norm and head last (tied: a copy)."""
    return (
        stage_dense_layers * dense_layer_parameters
        + stage_expert_layers * expert_layer_parameters
        + has_embedding * embedding_parameters
        + has_head
        * (
            norm_parameters
            + head_parameters
            + maths.where(scalar_head > 0, 0, tied) * (1 - has_embedding) * embedding_matrix
        )
    )


@term("", per={"role", "stage"}, source="stage over all stages", limit=SHARE)
def stage_share(stage_parameters: Any, parameters: Any) -> Any:
    """What a stage has of a rank's parameters of all stages."""
    return stage_parameters / parameters


@term("", per={"role", "stage"}, source="experts of a stage over all stages", limit=SHARE)
def expert_share(stage_expert_layers: Any, rank_expert_parameters: Any, parameters: Any) -> Any:
    """The part of it that is routed experts."""
    return stage_expert_layers * rank_expert_parameters / parameters


@term("", per={"role", "stage"}, during={"train"}, source=OPTIMIZER, limit=SHARE)
def optimizer_share(stage_share: Any, expert_share: Any, optimizer_shards: Any, expert_shards: Any) -> Any:
    """What a rank has of the optimizer: experts are divided by their own replicas."""
    return (stage_share - expert_share) / optimizer_shards + expert_share / expert_shards


@term("device", per={"role"}, during={"train"}, source=OPTIMIZER)
def optimizer_shards(distributed_optimizer: Any, data: Any, context: Any, optimizer_instances: Any) -> Any:
    """Ranks that share the optimizer's states: replicas, and context ranks, which have the same weights."""
    return maths.where(distributed_optimizer > 0, data * context / optimizer_instances, 1)


@term("byte", per={"role", "stage"}, resource="allocated", live=resident, source=BUFFERS)
def held_weights(
    weights: Any,
    stage_share: Any,
    narrow_share: Any = Const(0, source="modelling code that stores no weights in 8 bits"),
) -> Any:
    """Weights, in one buffer, but for those that are stored in 8 bits."""
    return weights * (stage_share - narrow_share)


@term("byte", per={"role", "stage"}, during={"train"}, resource="allocated", live=resident, source=BUFFERS)
def held_gradients(gradients: Any, stage_share: Any) -> Any:
    """Gradients of all weights, in a buffer that is made with the model and never freed."""
    return gradients * stage_share


@term(
    "byte",
    per={"role", "stage"},
    during={"train"},
    resource="allocated",
    live=resident,
    source=f"{OPTIMIZER}; {OFFLOAD}",
)
def held_master_weights(master_weights: Any, optimizer_share: Any, optimizer_offload_fraction: Any) -> Any:
    """A shard of the optimizer's copy of the weights, but for what is on the host."""
    return master_weights * optimizer_share * (1 - optimizer_offload_fraction)


@term(
    "byte",
    per={"role", "stage"},
    during={"train"},
    resource="allocated",
    live=resident & after("optimizer_step"),
    source=f"{OPTIMIZER}; {OFFLOAD}",
)
def held_optimizer_state(optimizer_state: Any, optimizer_share: Any, optimizer_offload_fraction: Any) -> Any:
    """A shard of what the optimizer keeps between steps, but for what is on the host."""
    return optimizer_state * optimizer_share * (1 - optimizer_offload_fraction)


@term("byte", per={"role", "stage"}, during={"train"}, resource="host", live=resident, source=OFFLOAD)
def states_on_host(
    master_weights: Any,
    optimizer_state: Any,
    trainable_parameters: Any,
    moment_bytes: Any,
    optimizer_share: Any,
    optimizer_offload_fraction: Any,
) -> Any:
    """The part that is stepped on the host: weights, moments, and a copy of their gradients."""
    return (
        (master_weights + optimizer_state + trainable_parameters * moment_bytes)
        * optimizer_share
        * optimizer_offload_fraction
    )


@trained_on_stage(live=at("optimizer_step"), source=OPTIMIZER)
def gradients_at_the_step(
    trainable_parameters: Any,
    gradient_bytes: Any,
    moment_bytes: Any,
    optimizer_share: Any,
    optimizer_offload_fraction: Any,
) -> Any:
    """A shard of gradients in the format of what is stepped, where the buffer has another."""
    return maths.where(
        gradient_bytes < moment_bytes,
        trainable_parameters * moment_bytes * optimizer_share * (1 - optimizer_offload_fraction),
        0,
    )


@trained_on_stage(live=at("optimizer_step"), source=ZERO)
def optimizer_temporaries(step_memory: Any, optimizer_share: Any) -> Any:
    """What the optimizer needs for its shard, beside gradients and state."""
    return step_memory * optimizer_share


@term("byte", per={"process"}, resource="allocated", name="library_workspaces", replaces=True, source=WORKSPACES)
def held_library_workspaces(
    megatron_workspaces: Any = Const("96 MiB", "byte", low="12 MiB", high="96 MiB", source=WORKSPACES),
) -> Any:
    """Workspaces of cuBLAS that PyTorch allocates: TransformerEngine's own, and one for forward and for backward."""
    return megatron_workspaces


STATES = (
    stage_parameters,
    stage_share,
    expert_share,
    optimizer_share,
    optimizer_shards,
    held_weights,
    held_gradients,
    held_master_weights,
    held_optimizer_state,
    states_on_host,
    gradients_at_the_step,
    optimizer_temporaries,
    held_library_workspaces,
    held_inputs,
)
