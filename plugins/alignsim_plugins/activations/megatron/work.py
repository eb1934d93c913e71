"""What the forward and the backward of one layer need beside what it keeps."""

from __future__ import annotations

from typing import Any

from alignsim import maths, term

GATHER = (
    "Korthikanti et al. 2022, section 4.2.2: a product by columns gathers its input, one by rows scatters its output"
)
EXCHANGE = "Liu et al. 2023 (ring attention), section 3; Jacobs et al. 2023 (DeepSpeed-Ulysses), section 3"
BACKWARD = "TransformerEngine 2.11: pytorch/module, gradients of a product's input and output"


@term("byte/token", per={"role"}, source=GATHER)
def gathered_input(token_shards: Any, compute_bytes: Any, hidden: Any) -> Any:
    """A product's input of all tokens, where a rank has a part of them otherwise."""
    return (token_shards > 1) * compute_bytes * hidden


@term("byte/token", per={"role"}, source=EXCHANGE)
def exchange_work(context: Any, context_all_to_all: Any, compute_bytes: Any, query_width: Any, key_width: Any) -> Any:
    """Keys and values of two other ranks on their way; or query, key and value of other heads, exchanged for tokens."""
    return (
        (context > 1) * compute_bytes * maths.where(context_all_to_all > 0, query_width + 2 * key_width, 4 * key_width)
    )


@term("byte/token", per={"role"}, source=GATHER)
def forward_work(
    gated: Any,
    ffn: Any,
    compute_bytes: Any,
    residual_bytes: Any,
    hidden: Any,
    token_shards: Any,
    gathered_input: Any,
    attention_forward_work: Any,
    exchange_work: Any,
    query_width: Any,
    key_width: Any,
    experts: Any,
    experts_forward_work: Any,
) -> Any:
    """The worst instant of a forward that keeps nothing: in the MLP or in attention, with input and residual."""
    return (
        2 * residual_bytes * hidden / token_shards
        + gathered_input
        + maths.maximum(
            maths.where(experts > 0, experts_forward_work, compute_bytes * ffn * (2 + gated)),
            compute_bytes * (2 * query_width + 2 * key_width) + attention_forward_work + exchange_work,
        )
    )


@term("byte/token", per={"role"}, during={"train"}, source=GATHER)
def forward_end_work(residual_bytes: Any, hidden: Any, token_shards: Any, compute_bytes: Any) -> Any:
    """At the end of a layer that keeps all: the last product's output, and its sum with the residual."""
    return residual_bytes * hidden / token_shards + compute_bytes * hidden


@term("byte/token", per={"role"}, during={"train"}, source=BACKWARD)
def backward_work(
    gated: Any,
    ffn: Any,
    compute_bytes: Any,
    residual_bytes: Any,
    hidden: Any,
    token_shards: Any,
    gathered_input: Any,
    attention_backward_work: Any,
    exchange_work: Any,
    query_width: Any,
    key_width: Any,
    experts: Any,
    experts_backward_work: Any,
) -> Any:
    """Gradients of the activation's input and output, or of query, key and value; and the residual's."""
    return (
        residual_bytes * hidden / token_shards
        + gathered_input
        + maths.maximum(
            maths.where(experts > 0, experts_backward_work, compute_bytes * ffn * (2 + gated)),
            compute_bytes * (2 * query_width + 2 * key_width) + attention_backward_work + exchange_work,
        )
    )


@term("byte", per={"role"}, during={"train"}, source="Megatron-LM: gradient_accumulation_fusion")
def unfused_gradient(
    gradient_accumulation_fusion: Any,
    weight_bytes: Any,
    gated: Any,
    hidden: Any,
    ffn: Any,
    experts: Any,
    rank_experts: Any,
    expert_ffn: Any,
) -> Any:
    """The largest weights' gradient before it is added to the buffer, where products do not add to it."""
    return (
        (1 - gradient_accumulation_fusion)
        * weight_bytes
        * (1 + gated)
        * hidden
        * maths.where(experts > 0, rank_experts * expert_ffn, ffn)
    )


@term("byte", per={"role"}, during={"train"}, source=BACKWARD)
def layer_backward_again(
    layer_saved: Any, recomputes: Any, checkpoint_saved: Any, backward_work: Any, tokens: Any, unfused_gradient: Any
) -> Any:
    """All that a layer keeps, of which its input is the checkpoint itself if it was recomputed, and gradients."""
    return (layer_saved - recomputes * checkpoint_saved + backward_work) * tokens + unfused_gradient


@term("byte", per={"role"}, during={"train"}, source="Megatron-LM: gradients are in buffers from the start")
def layer_backward(layer_backward_again: Any) -> Any:
    """The same on the first micro-batch."""
    return layer_backward_again


WORK = (
    gathered_input,
    exchange_work,
    forward_work,
    forward_end_work,
    backward_work,
    unfused_gradient,
    layer_backward_again,
    layer_backward,
)
