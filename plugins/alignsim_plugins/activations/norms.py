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
    layer_norm_saved: Any,
    norm_in_32_bits: Any,
    written_out_norm: Any,
    parallel: Any,
    frozen: Any,
    norm_copies: Any,
    residual_bytes: Any,
    fp32: Any = FP32,
) -> Any:
    """The norms of one layer: input in 32 bits, an inverse root a token, and what their own weights need.

    Side by side, two LayerNorms have one input.
    """
    return (
        norms / 2 * (maths.where(rms_norm > 0, 2 * fp32 * hidden, 2 * layer_norm_saved) + 2 * fp32)
        - (rms_norm + norm_in_32_bits + written_out_norm <= 0) * parallel * (norms - 1) * residual_bytes * hidden
        + maths.where(frozen > 0, 0, norm_copies)
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
    rms_norm: Any,
    reached_layers: Any,
    frozen_final_norm: Any,
    layer_norm_input_saved: Any,
    scales_in_32_bits: Any,
    residual_bytes: Any,
    head_input_saved: Any,
    fp32: Any = FP32,
) -> Any:
    """The norm before the head: input in 32 bits, a normalised copy if its weight is trained, and the head's input.

    Its own input is kept only where a layer below is reached.
    """
    return (
        maths.where(
            rms_norm > 0,
            maths.where(reached_layers > 0, fp32 * hidden + fp32, 0)
            + maths.where(frozen_final_norm > 0, 0, maths.maximum(residual_bytes, scales_in_32_bits * fp32) * hidden),
            maths.where((reached_layers > 0) + (frozen_final_norm <= 0) > 0, layer_norm_input_saved + fp32, 0),
        )
    ) * tokens + head_input_saved


NORMS = (
    layer_norm_input_saved,
    layer_norm_saved,
    norm_copies,
    norms_saved,
    input_norm_saved,
    latents_saved,
    qk_norm_copies,
    qk_norms_saved,
    final_norm_saved,
)
