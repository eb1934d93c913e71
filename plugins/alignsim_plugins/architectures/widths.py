"""Widths and matrices of a layer, as activations and gradients see them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Algorithm, Term, hookimpl, maths, term

SOURCE = "Vaswani et al. 2017, section 3; Ainslie et al. 2023 (GQA), section 2"


@term("", per={"model"}, source=SOURCE)
def query_width(heads: Any, head_dim: Any) -> Any:
    """Elements of all query heads together."""
    return heads * head_dim


@term("", per={"model"}, source=SOURCE)
def key_width(kv_heads: Any, head_dim: Any) -> Any:
    """Elements of all key heads together; values are as wide."""
    return kv_heads * head_dim


@term("", per={"model"}, source=f"{SOURCE}; DeepSeek-AI 2024 (DeepSeek-V2), section 2.1")
def output_width(kv_lora_rank: Any, heads: Any, v_head_dim: Any, head_dim: Any) -> Any:
    """Elements of what all heads give: of latent attention, their values; a head is narrower than its query there."""
    return heads * maths.where(kv_lora_rank > 0, v_head_dim, head_dim)


@term("", per={"model"}, source="transformers 5.24: DeepseekV3Attention, Phi3Attention; a view keeps all that it views")
def value_storage(
    kv_lora_rank: Any,
    heads: Any,
    qk_nope_head_dim: Any,
    v_head_dim: Any,
    fused_qkv: Any,
    query_width: Any,
    key_width: Any,
) -> Any:
    """Elements that stay for the sake of values: whatever else came out of the projection that they are a view of."""
    return maths.where(
        kv_lora_rank > 0,
        heads * (qk_nope_head_dim + v_head_dim),
        key_width + fused_qkv * (query_width + key_width),
    )


@term("", per={"model"}, source="Fedus et al. 2022 (Switch Transformers), section 2")
def mlp_width(experts: Any, experts_per_token: Any, expert_ffn: Any, ffn: Any) -> Any:
    """Inner width of all MLPs that a token passes in one layer."""
    return maths.where(experts > 0, experts_per_token * expert_ffn, ffn)


@term("parameter", per={"model"}, source=SOURCE)
def embedding_matrix(vocab: Any, hidden: Any) -> Any:
    """The token embedding; the head of a language model is as large."""
    return vocab * hidden


@term("parameter", per={"model"}, source=f"{SOURCE}; DeepSeek-AI 2024 (DeepSeek-V2), section 2.1")
def qkv_parameters(
    hidden: Any,
    query_width: Any,
    key_width: Any,
    qkv_bias: Any,
    kv_lora_rank: Any,
    latent_attention_parameters: Any,
    heads: Any,
    v_head_dim: Any,
) -> Any:
    """Projections to query, key and value with their biases; of latent attention, all but the one out of it."""
    return maths.where(
        kv_lora_rank > 0,
        latent_attention_parameters - heads * v_head_dim * hidden,
        (hidden + qkv_bias) * (query_width + 2 * key_width),
    )


@term("parameter", per={"model"}, source=SOURCE)
def down_matrix(experts: Any, hidden: Any, expert_ffn: Any, ffn: Any) -> Any:
    """The projection down of an MLP, of all experts where there are some."""
    return maths.where(experts > 0, experts * hidden * expert_ffn, hidden * ffn)


@term("parameter", per={"model"}, source=SOURCE)
def inner_matrices(experts: Any, gated: Any, hidden: Any, expert_ffn: Any, ffn: Any) -> Any:
    """All matrices of an MLP, of all experts where there are some: three with a gate, else two."""
    return (2 + gated) * hidden * maths.where(experts > 0, experts * expert_ffn, ffn)


@term("parameter", per={"model"}, source="torch.autocast casts the operands of matrix multiplications")
def cast_matrices(
    hidden: Any,
    query_width: Any,
    key_width: Any,
    kv_lora_rank: Any,
    latent_attention_parameters: Any,
    inner_matrices: Any,
    experts: Any,
) -> Any:
    """The matrices of one layer: projections of attention, MLP and router."""
    return (
        maths.where(kv_lora_rank > 0, latent_attention_parameters, 2 * hidden * (query_width + key_width))
        + inner_matrices
        + experts * hidden
    )


@term("parameter", per={"model"}, source="the parts counted in architectures/parameters.py")
def layer_parameters(expert_layers: Any, dense_layer_parameters: Any, expert_layer_parameters: Any) -> Any:
    """One layer of the kind that a model has most of."""
    return maths.where(expert_layers > 0, expert_layer_parameters, dense_layer_parameters)


@term("parameter", per={"model"}, source="the widest of the parts")
def largest_matrix(embedding_matrix: Any, down_matrix: Any, experts: Any) -> Any:
    """The largest single parameter: the embedding, a matrix of the MLP, or all experts' gate and up in one."""
    return maths.maximum(embedding_matrix, maths.where(experts > 0, 2 * down_matrix, down_matrix))


WIDTHS = (
    query_width,
    key_width,
    output_width,
    value_storage,
    mlp_width,
    embedding_matrix,
    qkv_parameters,
    down_matrix,
    inner_matrices,
    cast_matrices,
    layer_parameters,
    largest_matrix,
)


@hookimpl
def alignsim_terms(algorithm: Algorithm) -> Iterator[Term]:
    """Offer the widths to every algorithm."""
    yield from WIDTHS
