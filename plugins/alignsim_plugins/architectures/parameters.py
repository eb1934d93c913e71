"""How many parameters a described transformer has, counted matrix by matrix.

Every count is exact: for each model of the catalogue the total equals one obtained without these formulas. What a
model has not is 0 and drops out. A stated ``parameters`` takes the place of the term of that name.
"""

from __future__ import annotations

from typing import Any

from alignsim import maths
from alignsim.hookspecs import hookimpl
from alignsim.term import Term, term

VASWANI = "Vaswani et al. 2017 (Attention is all you need), sec. 3"
AINSLIE = "Ainslie et al. 2023 (GQA), sec. 2"
SHAZEER = "Shazeer 2020 (GLU variants improve Transformer), eq. 6"
DEEPSEEK_V2 = "DeepSeek-AI 2024 (DeepSeek-V2), sec. 2.1 and appendix C"
DEEPSEEK_MOE = "Dai et al. 2024 (DeepSeekMoE), sec. 3"


@term("parameter", per={"model"}, source=VASWANI)
def embedding_parameters(vocab: Any, learned_positions: Any, hidden: Any) -> Any:
    """Rows of the token embedding and of a learned position embedding, each as wide as the residual stream.

    A tied head uses the token embedding and is counted here alone.
    """
    return (vocab + learned_positions) * hidden


@term("parameter", per={"model"}, source=AINSLIE)
def grouped_attention_parameters(
    hidden: Any, heads: Any, kv_heads: Any, head_dim: Any, qkv_bias: Any, output_bias: Any
) -> Any:
    """Projections of attention whose key and value heads are shared by groups of query heads, with their biases."""
    return (heads + 2 * kv_heads) * head_dim * (hidden + qkv_bias) + (heads * head_dim + output_bias) * hidden


@term("parameter", per={"model"}, source="Dehghani et al. 2023 (ViT-22B), sec. 2; OpenAI 2025 (gpt-oss), sec. 2.3")
def attention_extra_parameters(
    heads: Any, kv_heads: Any, head_dim: Any, qk_norm: Any, qk_norm_full: Any, attention_sinks: Any
) -> Any:
    """Weights that normalise queries and keys (one head wide, or all heads wide), and one sink a head."""
    return (2 * qk_norm + (heads + kv_heads) * qk_norm_full) * head_dim + heads * attention_sinks


@term("parameter", per={"model"}, source=DEEPSEEK_V2)
def latent_query_parameters(
    hidden: Any, heads: Any, q_lora_rank: Any, qk_nope_head_dim: Any, qk_rope_head_dim: Any
) -> Any:
    """Queries of latent attention: down, normalised, up; or straight where ``q_lora_rank`` is 0."""
    return maths.where(
        q_lora_rank > 0,
        q_lora_rank * (hidden + 1 + heads * (qk_nope_head_dim + qk_rope_head_dim)),
        hidden * heads * (qk_nope_head_dim + qk_rope_head_dim),
    )


@term("parameter", per={"model"}, source=DEEPSEEK_V2)
def latent_attention_parameters(
    latent_query_parameters: Any,
    hidden: Any,
    heads: Any,
    kv_lora_rank: Any,
    qk_nope_head_dim: Any,
    qk_rope_head_dim: Any,
    v_head_dim: Any,
) -> Any:
    """Latent attention (MLA): queries; keys and values down (with the shared rotary key), normalised, up; output."""
    return (
        latent_query_parameters
        + hidden * (kv_lora_rank + qk_rope_head_dim)
        + kv_lora_rank * (1 + heads * (qk_nope_head_dim + v_head_dim))
        + heads * v_head_dim * hidden
    )


@term("parameter", per={"model"}, source=f"{AINSLIE}; {DEEPSEEK_V2}")
def attention_parameters(
    kv_lora_rank: Any,
    latent_attention_parameters: Any,
    grouped_attention_parameters: Any,
    attention_extra_parameters: Any,
) -> Any:
    """Attention of one layer: latent where ``kv_lora_rank`` is above 0, else grouped."""
    return maths.where(
        kv_lora_rank > 0, latent_attention_parameters, grouped_attention_parameters + attention_extra_parameters
    )


@term("parameter", per={"model"}, source=SHAZEER)
def mlp_parameters(hidden: Any, ffn: Any, gated: Any, mlp_bias: Any) -> Any:
    """MLP of one dense layer: up and down, a gate beside up where it is gated, and their biases."""
    return (2 + gated) * hidden * ffn + mlp_bias * ((1 + gated) * ffn + hidden)


@term("parameter", per={"model"}, source=DEEPSEEK_MOE)
def expert_parameters(hidden: Any, expert_ffn: Any, gated: Any, expert_bias: Any) -> Any:
    """One routed expert: an MLP of its own width."""
    return (2 + gated) * hidden * expert_ffn + expert_bias * ((1 + gated) * expert_ffn + hidden)


@term("parameter", per={"model"}, source=DEEPSEEK_MOE)
def shared_expert_parameters(hidden: Any, shared_experts: Any, shared_ffn: Any, gated: Any, shared_gate: Any) -> Any:
    """All shared experts of one layer, and the gate that weighs them in Qwen2-MoE."""
    return shared_experts * (2 + gated) * hidden * shared_ffn + shared_gate * hidden


@term("parameter", per={"model"}, source="Shazeer et al. 2017, eq. 3; DeepSeek-AI 2024 (DeepSeek-V3), sec. 2.1.2")
def router_parameters(hidden: Any, experts: Any, router_bias: Any) -> Any:
    """One score a routed expert, with a learned bias where there is one."""
    return experts * (hidden + router_bias)


@term("parameter", per={"model"}, source="Zhang and Sennrich 2019 (RMSNorm), sec. 3; Ba et al. 2016 (LayerNorm)")
def norm_parameters(hidden: Any, norm_weight: Any, norm_bias: Any) -> Any:
    """One normalisation of the residual width: RMSNorm has a weight, LayerNorm mostly a bias too."""
    return hidden * (norm_weight + norm_bias)


@term("parameter", per={"model"}, source=VASWANI)
def dense_layer_parameters(attention_parameters: Any, mlp_parameters: Any, norms: Any, norm_parameters: Any) -> Any:
    """One layer without experts."""
    return attention_parameters + mlp_parameters + norms * norm_parameters


@term("parameter", per={"model"}, source=DEEPSEEK_MOE)
def expert_layer_parameters(
    attention_parameters: Any,
    router_parameters: Any,
    experts: Any,
    expert_parameters: Any,
    shared_expert_parameters: Any,
    norms: Any,
    norm_parameters: Any,
) -> Any:
    """One layer with experts. A model without experts has no such layer (``expert_layers`` is 0)."""
    return (
        attention_parameters
        + router_parameters
        + experts * expert_parameters
        + shared_expert_parameters
        + norms * norm_parameters
    )


@term("layer", per={"model"}, source="Meta 2025 (Llama 4), config.json: interleave_moe_layer_step")
def expert_layers(layers: Any, experts: Any, dense_layers: Any, expert_every: Any) -> Any:
    """How many layers have experts: after the leading dense ones, the last of every ``expert_every``."""
    return (experts > 0) * maths.floor((layers - dense_layers) / expert_every)


@term("parameter", per={"model"}, source="Press and Wolf 2017 (tied embeddings)")
def head_parameters(hidden: Any, vocab: Any, tied: Any, head_bias: Any, scalar_head: Any) -> Any:
    """The head of a language model (only its bias where tied), or the vector of a critic or reward model."""
    return maths.where(scalar_head > 0, hidden, vocab * (hidden * (1 - tied) + head_bias))


@term("parameter", per={"model"}, source=VASWANI)
def parameters(
    embedding_parameters: Any,
    layers: Any,
    expert_layers: Any,
    dense_layer_parameters: Any,
    expert_layer_parameters: Any,
    norm_parameters: Any,
    head_parameters: Any,
) -> Any:
    """All parameters of a model, each counted once; further-token (MTP) layers and other modalities are left out."""
    return (
        embedding_parameters
        + (layers - expert_layers) * dense_layer_parameters
        + expert_layers * expert_layer_parameters
        + norm_parameters
        + head_parameters
    )


@term("parameter", per={"model"}, source=DEEPSEEK_MOE)
def active_parameters(
    parameters: Any, expert_layers: Any, experts: Any, experts_per_token: Any, expert_parameters: Any
) -> Any:
    """The parameters that one token passes: all but the routed experts that are not chosen for it."""
    return parameters - expert_layers * (experts - experts_per_token) * expert_parameters


TERMS: tuple[Term, ...] = (
    embedding_parameters,
    grouped_attention_parameters,
    attention_extra_parameters,
    latent_query_parameters,
    latent_attention_parameters,
    attention_parameters,
    mlp_parameters,
    expert_parameters,
    shared_expert_parameters,
    router_parameters,
    norm_parameters,
    dense_layer_parameters,
    expert_layer_parameters,
    expert_layers,
    head_parameters,
    parameters,
    active_parameters,
)


@hookimpl
def alignsim_terms(algorithm: Any) -> list[Term]:
    """Offer the parameter counts to every algorithm."""
    return list(TERMS)
