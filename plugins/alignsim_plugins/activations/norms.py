"""What the norms keep."""

from __future__ import annotations

from typing import Any

from alignsim import maths, term
from alignsim_plugins.elements import FP32, TRACES

SOURCE = f"transformers 5.24: LlamaRMSNorm; {TRACES}"


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def norm_copies(
    scales_in_32_bits: Any,
    hidden: Any,
    norms: Any,
    rms_norm: Any,
    norm_saved_bytes: Any,
    residual_bytes: Any,
    fp32: Any = FP32,
) -> Any:
    """Normalised copies in the norms of one layer, and outputs that are projected: only weights' gradients need them.

    The norms after attention and MLP, where there are four, have outputs that nobody keeps.
    """
    return (rms_norm > 0) * (
        norms / 2 * (norm_saved_bytes + scales_in_32_bits * fp32 - 2 * fp32) * hidden
        - maths.maximum(norms - 2, 0) * residual_bytes * hidden
    )


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def norms_saved(
    hidden: Any,
    norms: Any,
    rms_norm: Any,
    parallel: Any,
    frozen: Any,
    norm_copies: Any,
    residual_bytes: Any,
    fp32: Any = FP32,
) -> Any:
    """The norms of one layer: input in 32 bits, an inverse root a token, and what their own weights need.

    A LayerNorm is one kernel: it keeps its input and output; side by side, two have one input.
    """
    return (
        norms / 2 * (maths.where(rms_norm > 0, 2 * fp32 * hidden, 4 * residual_bytes * hidden + 2 * fp32) + 2 * fp32)
        - (rms_norm <= 0) * parallel * (norms - 1) * residual_bytes * hidden
        + maths.where(frozen > 0, 0, norm_copies)
    )


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def input_norm_saved(hidden: Any, frozen: Any, fp32: Any = FP32) -> Any:
    """What the first norm of a layer still holds when the rest of the layer is done with."""
    return maths.where(frozen > 0, 1.5 * fp32 * hidden, 2 * fp32 * hidden)


@term(
    "byte/token", per={"role"}, during={"train"}, source="transformers 5.24: DeepseekV3Attention; not measured on a GPU"
)
def latents_saved(
    q_lora_rank: Any,
    kv_lora_rank: Any,
    heads: Any,
    head_dim: Any,
    qk_nope_head_dim: Any,
    v_head_dim: Any,
    frozen: Any,
    compute_bytes: Any,
    fp32: Any = FP32,
) -> Any:
    """Of latent attention: norms of the latents and their outputs; values with the keys that they came with, output."""
    return maths.where(
        kv_lora_rank > 0,
        (maths.where(frozen > 0, 1, 1.5) * fp32 + compute_bytes * (frozen <= 0)) * (q_lora_rank + kv_lora_rank)
        + fp32 * (1 + (q_lora_rank > 0))
        + compute_bytes * heads * (qk_nope_head_dim + 2 * v_head_dim - 2 * head_dim),
        0,
    )


@term(
    "byte/token",
    per={"role"},
    during={"train"},
    source=f"transformers 5.24: Qwen3RMSNorm on queries and keys; {TRACES}",
)
def qk_norm_copies(
    scales_in_32_bits: Any,
    qk_norm: Any,
    qk_norm_full: Any,
    query_width: Any,
    key_width: Any,
    compute_bytes: Any,
    fp32: Any = FP32,
) -> Any:
    """Normalised copies of queries and keys, which only the norms' weights need."""
    return (
        (qk_norm + qk_norm_full > 0)
        * maths.maximum(compute_bytes, scales_in_32_bits * fp32)
        * (query_width + key_width)
    )


@term(
    "byte/token",
    per={"role"},
    during={"train"},
    source=f"transformers 5.24: Qwen3RMSNorm on queries and keys; {TRACES}",
)
def qk_norms_saved(
    qk_norm: Any,
    qk_norm_full: Any,
    query_width: Any,
    key_width: Any,
    heads: Any,
    kv_heads: Any,
    frozen: Any,
    qk_norm_copies: Any,
    latents_saved: Any,
    fp32: Any = FP32,
) -> Any:
    """Norms of queries and keys: a copy in 32 bits, a normalised one if weights are trained, a root a head."""
    return (
        maths.where(
            qk_norm + qk_norm_full > 0,
            fp32 * (query_width + key_width) + fp32 * (qk_norm * (heads + kv_heads) + qk_norm_full * 2),
            0,
        )
        + maths.where(frozen > 0, 0, qk_norm_copies)
        + latents_saved
    )


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def final_norm_saved(
    hidden: Any,
    tokens: Any,
    reached_layers: Any,
    frozen_final_norm: Any,
    residual_bytes: Any,
    head_input_saved: Any,
    fp32: Any = FP32,
) -> Any:
    """The norm before the head: input in 32 bits, a normalised copy if its weight is trained, and the head's input.

    Its own input is kept only where a layer below is reached.
    """
    return (
        maths.where(reached_layers > 0, fp32 * hidden + fp32, 0)
        + maths.where(frozen_final_norm > 0, 0, residual_bytes * hidden)
    ) * tokens + head_input_saved


NORMS = (
    norm_copies,
    norms_saved,
    input_norm_saved,
    latents_saved,
    qk_norm_copies,
    qk_norms_saved,
    final_norm_saved,
)
