"""What the norms keep."""

from __future__ import annotations

from typing import Any

from alignsim import maths, term
from alignsim_plugins.elements import FP32, TRACES

LAYER_NORM = "transformers 5.24: torch.nn.LayerNorm, OlmoLayerNorm, CohereLayerNorm; live storages"
SOURCE = f"transformers 5.24: LlamaRMSNorm; {TRACES}"


@term("byte/token", per={"role"}, during={"train"}, source=LAYER_NORM)
def layer_norm_input_saved(
    norm_in_32_bits: Any, written_out_norm: Any, hidden: Any, frozen: Any, residual_bytes: Any, fp32: Any = FP32
) -> Any:
    """A LayerNorm is one kernel: it keeps its input, or that input's copy in 32 bits, and two numbers a token.

    One of these two is counted elsewhere. Written out in 32 bits, it keeps two differences from the mean and the
    product that a trained weight is multiplied by.
    """
    return maths.where(
        written_out_norm > 0,
        maths.where(frozen > 0, 2, 3) * fp32 * hidden,
        maths.where(norm_in_32_bits > 0, fp32, residual_bytes) * hidden + fp32,
    )


@term("byte/token", per={"role"}, during={"train"}, source=LAYER_NORM)
def layer_norm_saved(layer_norm_input_saved: Any, hidden: Any, frozen: Any, residual_bytes: Any) -> Any:
    """Beside that, its output, which frozen matrices do not keep."""
    return layer_norm_input_saved + maths.where(frozen > 0, 0, residual_bytes * hidden)


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def norms_saved(
    scales_in_32_bits: Any,
    hidden: Any,
    norms: Any,
    rms_norm: Any,
    layer_norm_saved: Any,
    norm_in_32_bits: Any,
    written_out_norm: Any,
    parallel: Any,
    frozen: Any,
    norm_saved_bytes: Any,
    residual_bytes: Any,
    fp32: Any = FP32,
) -> Any:
    """The norms of one layer: input in 32 bits, normalised and scaled copies, and an inverse root a token.

    The norms after attention and MLP, where there are four, have outputs that nobody keeps. Frozen weights need no
    normalised copy. Side by side, two LayerNorms have one input.
    """
    return (
        norms
        / 2
        * (
            maths.where(
                rms_norm > 0,
                maths.where(frozen > 0, 2 * fp32 * hidden, (norm_saved_bytes + scales_in_32_bits * fp32) * hidden),
                2 * layer_norm_saved,
            )
            + 2 * fp32
        )
        - (rms_norm > 0) * (frozen <= 0) * maths.maximum(norms - 2, 0) * residual_bytes * hidden
        - (rms_norm + norm_in_32_bits + written_out_norm <= 0) * parallel * (norms - 1) * residual_bytes * hidden
    )


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def input_norm_saved(
    hidden: Any,
    frozen: Any,
    rms_norm: Any,
    layer_norm_saved: Any,
    parallel: Any,
    norms: Any,
    residual_bytes: Any,
    fp32: Any = FP32,
) -> Any:
    """What the first norm of a layer still holds when the rest of the layer is done with.

    Where attention and MLP share it, the MLP's gradient of its output waits for attention's.
    """
    return (
        maths.where(rms_norm > 0, maths.where(frozen > 0, 1.5, 2) * fp32 * hidden, layer_norm_saved)
        + parallel * (norms < 2) * residual_bytes * hidden
    )


@term(
    "byte/token", per={"role"}, during={"train"}, source="transformers 5.24: DeepseekV3Attention; not measured on a GPU"
)
def latents_saved(
    q_lora_rank: Any,
    kv_lora_rank: Any,
    frozen: Any,
    compute_bytes: Any,
    fp32: Any = FP32,
) -> Any:
    """Of latent attention: norms of the latents and their outputs."""
    return maths.where(
        kv_lora_rank > 0,
        (maths.where(frozen > 0, 1, 1.5) * fp32 + compute_bytes * (frozen <= 0)) * (q_lora_rank + kv_lora_rank)
        + fp32 * (1 + (q_lora_rank > 0)),
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
    rms_norm: Any,
    layer_norm_input_saved: Any,
    scales_in_32_bits: Any,
    residual_bytes: Any,
    head_input_saved: Any,
    fp32: Any = FP32,
) -> Any:
    """The norm before the head: input in 32 bits, a normalised copy if its weight is trained, and the head's input."""
    return (
        maths.where(
            rms_norm > 0,
            fp32 * hidden
            + maths.where(frozen > 0, 0, maths.maximum(residual_bytes, scales_in_32_bits * fp32) * hidden),
            layer_norm_input_saved,
        )
        + fp32
    ) * tokens + head_input_saved


NORMS = (
    layer_norm_input_saved,
    layer_norm_saved,
    norms_saved,
    input_norm_saved,
    latents_saved,
    qk_norms_saved,
    final_norm_saved,
)
