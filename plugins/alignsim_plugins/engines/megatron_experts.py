"""Experts under Megatron: dealt out to expert ranks, divided by expert tensor ranks, with replicas of their own."""

from __future__ import annotations

from typing import Any

from alignsim import maths, term

EXPERTS = "Megatron-LM d98e8a64: core/transformer/moe, core/parallel_state.py: expert groups"


@term("device", per={"role"}, source=EXPERTS)
def expert_ranks(expert_tensor: Any, tensor: Any) -> Any:
    """Ranks that share every expert's matrices: as many as share the other matrices, unless told."""
    return maths.where(expert_tensor > 0, expert_tensor, tensor)


@term("", per={"role"}, source=EXPERTS)
def rank_experts(experts: Any, expert: Any) -> Any:
    """Routed experts of a rank."""
    return experts / expert


@term("", per={"role"}, source=EXPERTS)
def expert_ffn(expert_ffn: Any, expert_ranks: Any) -> Any:
    """Inner width of a rank's part of an expert."""
    return expert_ffn / expert_ranks


@term("", per={"role"}, source="Megatron-LM d98e8a64: core/transformer/moe/shared_experts.py, divided as a dense MLP")
def shared_ffn(shared_ffn: Any, tensor: Any) -> Any:
    """Inner width of a rank's part of a shared expert."""
    return shared_ffn / tensor


@term("parameter", per={"role"}, source=EXPERTS)
def rank_expert_parameters(rank_experts: Any, expert_parameters: Any) -> Any:
    """Routed experts of one layer on a rank."""
    return rank_experts * expert_parameters


@term("parameter", per={"role"}, source=EXPERTS)
def expert_layer_parameters(
    attention_parameters: Any,
    router_parameters: Any,
    rank_expert_parameters: Any,
    shared_expert_parameters: Any,
    norms: Any,
    norm_parameters: Any,
) -> Any:
    """One layer with experts, as a rank has it; the router is whole."""
    return (
        attention_parameters
        + router_parameters
        + rank_expert_parameters
        + shared_expert_parameters
        + norms * norm_parameters
    )


@term("device", per={"role"}, during={"train"}, source=EXPERTS)
def expert_shards(
    distributed_optimizer: Any,
    tensor: Any,
    data: Any,
    context: Any,
    expert: Any,
    expert_ranks: Any,
    optimizer_instances: Any,
) -> Any:
    """Replicas of an expert, which share the optimizer's states of it."""
    return maths.where(
        distributed_optimizer > 0, tensor * data * context / (expert * expert_ranks * optimizer_instances), 1
    )


@term("layer", per={"role", "stage"}, source="Megatron-LM d98e8a64: moe_layer_freq")
def stage_expert_layers(
    stage_layers: Any, has_embedding: Any, experts: Any, dense_layers: Any, expert_every: Any
) -> Any:
    """Layers of a stage that have experts; the leading dense ones are on the first stage."""
    return (experts > 0) * maths.floor((stage_layers - has_embedding * dense_layers) / expert_every)


@term("layer", per={"role", "stage"}, source="Megatron-LM d98e8a64: moe_layer_freq")
def stage_dense_layers(stage_layers: Any, stage_expert_layers: Any) -> Any:
    """The others."""
    return stage_layers - stage_expert_layers


@term("layer", per={"role", "stage"}, source="Megatron-LM d98e8a64: moe_layer_freq")
def dense_in_flight(
    stage_dense_layers: Any, experts: Any, dense_layers: Any, first_pieces_in_flight: Any, pieces_in_flight: Any
) -> Any:
    """Dense layers of a model with experts whose forward waits: leading ones are in the first piece."""
    return (experts > 0) * stage_dense_layers * maths.where(dense_layers > 0, first_pieces_in_flight, pieces_in_flight)


SPREAD_EXPERTS = (
    expert_ranks,
    rank_experts,
    expert_ffn,
    shared_ffn,
    rank_expert_parameters,
    expert_layer_parameters,
    expert_shards,
    stage_expert_layers,
    stage_dense_layers,
    dense_in_flight,
)
