"""The shapes of a model's own weights that are trained, for optimizers that treat shapes differently.

They need ``trained_layers``, the number of layers that are, and what is frozen besides.
"""

from __future__ import annotations

from typing import Any

from alignsim import maths, term

SOURCE = "the parts counted in architectures/parameters.py"
EXPERTS = "transformers 5.24: the experts of a layer are two parameters, gate and up in one, each of three dimensions"


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def largest_of_layer(experts: Any, down_matrix: Any) -> Any:
    """The largest parameter of a layer: a matrix of the MLP, or all experts' gate and up in one."""
    return maths.where(experts > 0, 2 * down_matrix, down_matrix)


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def largest_trained(
    frozen_embedding: Any,
    embedding_matrix: Any,
    trained_head: Any,
    trained_layers: Any,
    largest_of_layer: Any,
    frozen_final_norm: Any,
    hidden: Any,
) -> Any:
    """The largest parameter that is trained."""
    return maths.maximum(
        maths.maximum((1 - frozen_embedding) * embedding_matrix, trained_head),
        maths.maximum((trained_layers > 0) * largest_of_layer, (1 - frozen_final_norm) * hidden),
    )


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trained_head(frozen_head: Any, hidden: Any, vocab: Any, tied: Any, scalar_head: Any) -> Any:
    """A head with a matrix of its own."""
    return (1 - frozen_head) * maths.where(scalar_head > 0, hidden, vocab * hidden * (1 - tied))


@term("layer", per={"role"}, during={"train"}, source="leading layers are the dense ones")
def trained_expert_layers(trained_layers: Any, expert_layers: Any) -> Any:
    """Trained layers that have experts."""
    return maths.minimum(trained_layers, expert_layers)


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def layer_vectors(
    norms: Any,
    norm_parameters: Any,
    attention_extra_parameters: Any,
    kv_lora_rank: Any,
    q_lora_rank: Any,
    qkv_bias: Any,
    query_width: Any,
    key_width: Any,
    output_bias: Any,
    hidden: Any,
) -> Any:
    """Weights of norms, and biases of attention, of one layer."""
    return norms * norm_parameters + maths.where(
        kv_lora_rank > 0,
        q_lora_rank + kv_lora_rank,
        attention_extra_parameters + qkv_bias * (query_width + 2 * key_width) + output_bias * hidden,
    )


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trained_vectors(
    trained_layers: Any,
    layer_vectors: Any,
    trained_expert_layers: Any,
    mlp_bias: Any,
    gated: Any,
    ffn: Any,
    hidden: Any,
    frozen_final_norm: Any,
    norm_parameters: Any,
    frozen_head: Any,
    head_bias: Any,
    vocab: Any,
    router_bias: Any,
    experts: Any,
) -> Any:
    """All parameters of one dimension."""
    return (
        trained_layers * layer_vectors
        + (trained_layers - trained_expert_layers) * mlp_bias * ((1 + gated) * ffn + hidden)
        + trained_expert_layers * router_bias * experts
        + (1 - frozen_final_norm) * norm_parameters
        + (1 - frozen_head) * head_bias * vocab
    )


@term("parameter", per={"role"}, during={"train"}, source=EXPERTS)
def trained_experts(trained_expert_layers: Any, experts: Any, expert_parameters: Any) -> Any:
    """All routed experts."""
    return trained_expert_layers * experts * expert_parameters


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def attention_edges(
    hidden: Any,
    query_width: Any,
    key_width: Any,
    heads: Any,
    q_lora_rank: Any,
    kv_lora_rank: Any,
    qk_nope_head_dim: Any,
    qk_rope_head_dim: Any,
    v_head_dim: Any,
) -> Any:
    """Rows and columns of the projections of one layer's attention."""
    return maths.where(
        kv_lora_rank > 0,
        3 * hidden
        + 2 * q_lora_rank
        + 2 * kv_lora_rank
        + qk_rope_head_dim
        + heads * (2 * qk_nope_head_dim + qk_rope_head_dim + 2 * v_head_dim),
        4 * hidden + 2 * query_width + 2 * key_width,
    )


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trained_edges(
    vocab: Any,
    hidden: Any,
    tied: Any,
    frozen_embedding: Any,
    frozen_head: Any,
    trained_layers: Any,
    trained_expert_layers: Any,
    attention_edges: Any,
    gated: Any,
    ffn: Any,
    experts: Any,
    expert_ffn: Any,
    shared_experts: Any,
    shared_ffn: Any,
) -> Any:
    """Rows and columns of all matrices; an expert's gate and up are one of double width."""
    return (
        (vocab + hidden) * ((1 - frozen_embedding) + (1 - frozen_head) * (1 - tied))
        + trained_layers * attention_edges
        + (trained_layers - trained_expert_layers) * (2 + gated) * (ffn + hidden)
        + trained_expert_layers
        * (
            (experts + hidden)
            + experts * (2 * hidden + (2 + gated) * expert_ffn)
            + (shared_experts > 0) * (2 + gated) * (hidden + shared_experts * shared_ffn)
        )
    )


@term("", per={"role"}, during={"train"}, source=SOURCE)
def widest_inner(ffn: Any, query_width: Any, shared_experts: Any, shared_ffn: Any) -> Any:
    """The widest that a layer's matrices are, beside the residual width."""
    return maths.maximum(maths.maximum(ffn, query_width), shared_experts * shared_ffn)


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def largest_inner(trained_layers: Any, hidden: Any, widest_inner: Any) -> Any:
    """The largest matrix of a layer that is no stack of experts."""
    return (trained_layers > 0) * hidden * widest_inner


@term("", per={"role"}, during={"train"}, source=SOURCE)
def inner_side(trained_layers: Any, hidden: Any, widest_inner: Any) -> Any:
    """The shorter side of that matrix."""
    return (trained_layers > 0) * maths.minimum(hidden, widest_inner)


TRAINED = (
    largest_of_layer,
    largest_trained,
    trained_head,
    trained_expert_layers,
    layer_vectors,
    trained_vectors,
    trained_experts,
    attention_edges,
    trained_edges,
    widest_inner,
    largest_inner,
    inner_side,
)
