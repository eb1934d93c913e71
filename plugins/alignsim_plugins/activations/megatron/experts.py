"""What the MLP of experts keeps and works with: tokens are copied for every expert that they pass."""

from __future__ import annotations

from typing import Any

from alignsim import Const, maths, term
from alignsim_plugins.elements import BOOL, FP32

DISPATCH = "Megatron-LM d98e8a64: core/transformer/moe/token_dispatcher.py, MoEAlltoAllTokenDispatcher"
EXPERTS = "Megatron-LM d98e8a64: core/transformer/moe/experts.py, TEGroupedMLP; weights of experts in the activation"
ROUTER = "Megatron-LM d98e8a64: core/transformer/moe/router.py, scores in 32 bits"


@term("", per={"role"}, source=DISPATCH)
def expert_rows(
    experts_per_token: Any,
    expert_capacity_factor: Any,
    expert_ranks: Any,
    token_shards: Any,
    expert_imbalance: Any = Const(
        1,
        low=1,
        high=2,
        source="balanced routing; a rank with more than its part holds so many times as much, at worst as many times "
        "as there are expert ranks",
    ),
) -> Any:
    """Rows that a rank's experts compute for a token of its micro-batch; padded to the capacity where there is one."""
    return (
        experts_per_token
        * maths.where(expert_capacity_factor > 0, expert_capacity_factor, expert_imbalance)
        * expert_ranks
        / token_shards
    )


@term("byte/token", per={"role"}, during={"train"}, source=ROUTER)
def router_kept(experts: Any, experts_per_token: Any, token_shards: Any, fp32: Any = FP32, truth: Any = BOOL) -> Any:
    """Scores, their softmax and the weights of those chosen, in 32 bits; which were chosen."""
    return experts * (3 * fp32 + truth) / token_shards


@term("byte/token", per={"role"}, during={"train"}, source=EXPERTS)
def routed_kept(
    expert_rows: Any,
    operand_bytes: Any,
    compute_bytes: Any,
    hidden: Any,
    gated: Any,
    expert_ffn: Any,
    fused_activation: Any,
    recomputed_activation: Any,
    fp32: Any = FP32,
) -> Any:
    """Of every row its input and weight, and the inner width before and after the activation.

    The weight is part of the activation only where that is fused and gated; else the product with it is another tensor,
    and a gated activation that is not fused keeps its activated gate too.
    """
    return expert_rows * (
        operand_bytes * hidden
        + compute_bytes * (1 + gated) * expert_ffn
        + (1 - recomputed_activation)
        * expert_ffn
        * (
            operand_bytes
            + (1 - gated * fused_activation) * compute_bytes
            + gated * (1 - fused_activation) * compute_bytes
        )
        + fp32
    )


@term(
    "byte/token", per={"role"}, during={"train"}, source="Megatron-LM d98e8a64: core/transformer/moe/shared_experts.py"
)
def shared_kept(shared_experts: Any, shared_ffn: Any, gated: Any, compute_bytes: Any, operand_bytes: Any) -> Any:
    """The inner width of shared experts before and after the activation."""
    return shared_experts * shared_ffn * (compute_bytes * (1 + gated) + operand_bytes)


@term("byte/token", per={"role"}, during={"train"}, source=EXPERTS)
def experts_kept(router_kept: Any, routed_kept: Any, shared_kept: Any, recomputed_experts: Any) -> Any:
    """Router, routed and shared experts together."""
    return (1 - recomputed_experts) * (router_kept + routed_kept + shared_kept)


@term("", per={"role"}, source=f"{DISPATCH}, MoEAllGatherTokenDispatcher, MoEFlexTokenDispatcher (DeepEP)")
def dispatched(
    experts_per_token: Any,
    expert_rows: Any,
    expert_gathers: Any,
    expert_sends_directly: Any,
    expert: Any,
    expert_ranks: Any,
    token_shards: Any,
) -> Any:
    """Rows on their way, for a token: sorted copies and what comes in; tokens of all ranks; or just what comes in."""
    return maths.where(
        expert_gathers > 0,
        expert * expert_ranks / token_shards,
        expert_rows + (1 - expert_sends_directly) * experts_per_token / token_shards,
    )


@term("byte/token", per={"role"}, source=DISPATCH)
def experts_forward_work(
    dispatched: Any, expert_rows: Any, compute_bytes: Any, hidden: Any, gated: Any, expert_ffn: Any
) -> Any:
    """What is on its way, and the inner widths."""
    return compute_bytes * (dispatched * hidden + expert_rows * (2 + gated) * expert_ffn)


@term("byte/token", per={"role"}, during={"train"}, source=EXPERTS)
def experts_backward_work(
    dispatched: Any, expert_rows: Any, compute_bytes: Any, hidden: Any, gated: Any, expert_ffn: Any
) -> Any:
    """Gradients of what is on its way back, and of the inner widths."""
    return compute_bytes * (dispatched * hidden + expert_rows * (2 + gated) * expert_ffn)


EXPERT_TERMS = (
    expert_rows,
    router_kept,
    routed_kept,
    shared_kept,
    experts_kept,
    dispatched,
    experts_forward_work,
    experts_backward_work,
)
