"""What one layer keeps for backward on a rank, per token of its part of the sequence.

Widths that tensor ranks divide come divided from the engine; norms, dropouts and residuals are divided only where
tensor ranks share tokens as well (sequence parallel).
"""

from __future__ import annotations

from typing import Any

from alignsim import Const, maths, term
from alignsim_plugins.elements import BOOL, FP8

KORTHIKANTI = "Korthikanti et al. 2022, sections 4.1 and 4.2"
TE = "TransformerEngine 2.11: pytorch/module"
LATENT = "DeepSeek-AI 2024 (DeepSeek-V2), section 2.1; Megatron-LM: core/transformer/multi_latent_attention.py"
STATISTIC = Const(4, "byte", source="TransformerEngine: statistics of norms are in 32 bits")


@term("", per={"role"}, source=f"{KORTHIKANTI}: sequence parallel")
def token_shards(sequence_parallel: Any, tensor: Any) -> Any:
    """Ranks that share the tokens of norms, dropouts and residuals."""
    return maths.where(sequence_parallel > 0, tensor, 1)


@term("byte", per={"role"}, source="TransformerEngine: operands of matrix products are kept as they are multiplied")
def operand_bytes(compute_bytes: Any, fp8: Any, eight_bits: Any = FP8) -> Any:
    """Of an operand of a matrix product: one byte in 8-bit training."""
    return maths.where(fp8 > 0, eight_bits, compute_bytes)


@term("byte/token", per={"role"}, during={"train"}, source=f"{KORTHIKANTI}; {TE}/layernorm_linear.py, layernorm.py")
def norms_kept(
    norms: Any,
    residual_bytes: Any,
    operand_bytes: Any,
    hidden: Any,
    rms_norm: Any,
    recomputed_norms: Any,
    token_shards: Any,
    statistic_bytes: Any = STATISTIC,
) -> Any:
    """Of every norm its input, its output unless that is computed again, and statistics: two, or one of RMSNorm."""
    return (
        norms
        * (
            (residual_bytes + (1 - recomputed_norms) * operand_bytes) * hidden
            + statistic_bytes * maths.where(rms_norm > 0, 1, 2)
        )
        / token_shards
    )


@term("byte/token", per={"role"}, during={"train"}, source=f"{TE}/rmsnorm.py on queries and keys")
def qk_norms_kept(
    qk_norm: Any,
    qk_norm_full: Any,
    query_width: Any,
    key_width: Any,
    heads: Any,
    kv_heads: Any,
    compute_bytes: Any,
    statistic_bytes: Any = STATISTIC,
) -> Any:
    """Inputs of norms of queries and keys, and a statistic a head; rotated outputs are attention's."""
    return maths.where(
        qk_norm + qk_norm_full > 0,
        compute_bytes * (query_width + key_width) + statistic_bytes * (heads + kv_heads),
        0,
    )


@term(
    "byte/token",
    per={"role"},
    during={"train"},
    source="TransformerEngine 2.11: attention/dot_product_attention/context_parallel.py",
)
def exchanged_kept(context: Any, context_all_to_all: Any, compute_bytes: Any, query_width: Any) -> Any:
    """Attention's output before it is exchanged, where context ranks exchange heads for tokens and keep both."""
    return (context > 1) * context_all_to_all * compute_bytes * query_width


@term("byte/token", per={"role"}, during={"train"}, source=f"{KORTHIKANTI}: a byte an element of each mask")
def masks_kept(hidden: Any, hidden_dropout: Any, token_shards: Any, truth: Any = BOOL) -> Any:
    """Masks of the two dropouts before the residual is added."""
    return (hidden_dropout > 0) * 2 * hidden * truth / token_shards


@term(
    "byte/token",
    per={"role"},
    during={"train"},
    source=f"{KORTHIKANTI}; Megatron-LM: core/fusions/fused_bias_swiglu.py",
)
def mlp_kept(
    gated: Any,
    ffn: Any,
    compute_bytes: Any,
    operand_bytes: Any,
    fused_activation: Any,
    recomputed_mlp: Any,
    recomputed_activation: Any,
) -> Any:
    """Before the activation (gate and up), and after it; not fused, a gated one keeps the activated gate too."""
    return (1 - recomputed_mlp) * (
        compute_bytes * ffn * (1 + gated)
        + (1 - recomputed_activation) * ffn * (operand_bytes + (1 - fused_activation) * gated * compute_bytes)
    )


@term("byte/token", per={"role"}, during={"train"}, source=LATENT)
def latents_kept(
    kv_lora_rank: Any,
    q_lora_rank: Any,
    qk_rope_head_dim: Any,
    compute_bytes: Any,
    operand_bytes: Any,
    statistic_bytes: Any = STATISTIC,
) -> Any:
    """Of latent attention: latents, normalised and not, on all tensor ranks."""
    return maths.where(
        kv_lora_rank > 0,
        (compute_bytes + operand_bytes) * (q_lora_rank + kv_lora_rank)
        + compute_bytes * qk_rope_head_dim
        + 2 * statistic_bytes,
        0,
    )


@term("byte/token", per={"role"}, during={"train"}, source=LATENT)
def attention_held(
    attention_kept: Any,
    kv_lora_rank: Any,
    heads: Any,
    head_dim: Any,
    v_head_dim: Any,
    compute_bytes: Any,
    recomputed_up_projection: Any,
) -> Any:
    """What the kernel keeps, but for query, key and value where the products up from latents are computed again."""
    return attention_kept - maths.where(
        kv_lora_rank > 0, recomputed_up_projection * compute_bytes * heads * (2 * head_dim + v_head_dim), 0
    )


@term("byte/token", per={"role"}, during={"train"}, source=KORTHIKANTI)
def block_saved(
    norms_kept: Any,
    qk_norms_kept: Any,
    latents_kept: Any,
    attention_held: Any,
    exchanged_kept: Any,
    attention_output_copy: Any,
    masks_kept: Any,
) -> Any:
    """All of a layer but its MLP: norms, attention and dropouts."""
    return (
        norms_kept + qk_norms_kept + latents_kept + attention_held + exchanged_kept + attention_output_copy + masks_kept
    )


@term("byte/token", per={"role"}, during={"train"}, source=KORTHIKANTI)
def layer_saved(block_saved: Any, experts: Any, experts_kept: Any, mlp_kept: Any) -> Any:
    """A layer of the kind that a model has most of: with experts, where it has some."""
    return block_saved + maths.where(experts > 0, experts_kept, mlp_kept)


@term("byte/token", per={"role"}, during={"train"}, source=KORTHIKANTI)
def dense_layer_saved(block_saved: Any, mlp_kept: Any) -> Any:
    """A dense layer, of a model with experts too."""
    return block_saved + mlp_kept


@term("byte/token", per={"role"}, during={"train"}, source=f"{KORTHIKANTI}; Megatron-LM: tensor_parallel/random.py")
def checkpoint_saved(residual_bytes: Any, hidden: Any, token_shards: Any) -> Any:
    """The input of a layer that is computed again, divided as the residual is."""
    return residual_bytes * hidden / token_shards


SAVED = (
    token_shards,
    operand_bytes,
    norms_kept,
    qk_norms_kept,
    exchanged_kept,
    masks_kept,
    mlp_kept,
    latents_kept,
    attention_held,
    block_saved,
    layer_saved,
    dense_layer_saved,
    checkpoint_saved,
)
