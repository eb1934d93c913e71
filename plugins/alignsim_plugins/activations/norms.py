"""What the norms keep."""

from __future__ import annotations

from typing import Any

from alignsim import maths, term
from alignsim_plugins.elements import FP32, TRACES

SOURCE = f"transformers 5.24: LlamaRMSNorm; {TRACES}"


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def norms_saved(
    scales_in_32_bits: Any,
    hidden: Any,
    norms: Any,
    rms_norm: Any,
    parallel: Any,
    frozen: Any,
    norm_saved_bytes: Any,
    residual_bytes: Any,
    fp32: Any = FP32,
) -> Any:
    """The norms of one layer: input in 32 bits, normalised and scaled copies, and an inverse root a token.

    The norms after attention and MLP, where there are four, have outputs that nobody keeps. Frozen weights need no
    normalised copy. A LayerNorm is one kernel: it keeps its input and output; side
    by side, two have one input.
    """
    return (
        norms
        / 2
        * (
            maths.where(
                rms_norm > 0,
                maths.where(frozen > 0, 2 * fp32 * hidden, (norm_saved_bytes + scales_in_32_bits * fp32) * hidden),
                4 * residual_bytes * hidden + 2 * fp32,
            )
            + 2 * fp32
        )
        - (rms_norm > 0) * (frozen <= 0) * maths.maximum(norms - 2, 0) * residual_bytes * hidden
        - (rms_norm <= 0) * parallel * (norms - 1) * residual_bytes * hidden
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
def qk_norms_saved(
    scales_in_32_bits: Any,
    qk_norm: Any,
    qk_norm_full: Any,
    query_width: Any,
    key_width: Any,
    heads: Any,
    kv_heads: Any,
    frozen: Any,
    compute_bytes: Any,
    latents_saved: Any,
    fp32: Any = FP32,
) -> Any:
    """Norms of queries and keys: a copy in 32 bits, a normalised one if weights are trained, a root a head."""
    return (
        maths.where(
            qk_norm + qk_norm_full > 0,
            (fp32 + maths.where(frozen > 0, 0, maths.maximum(compute_bytes, scales_in_32_bits * fp32)))
            * (query_width + key_width)
            + fp32 * (qk_norm * (heads + kv_heads) + qk_norm_full * 2),
            0,
        )
        + latents_saved
    )


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def final_norm_saved(
    hidden: Any,
    tokens: Any,
    frozen: Any,
    residual_bytes: Any,
    head_input_saved: Any,
    fp32: Any = FP32,
) -> Any:
    """The norm before the head: input in 32 bits, a normalised copy if its weight is trained, and the head's input."""
    return (fp32 * hidden + maths.where(frozen > 0, 0, residual_bytes * hidden) + fp32) * tokens + head_input_saved


NORMS = (norms_saved, input_norm_saved, latents_saved, qk_norms_saved, final_norm_saved)
