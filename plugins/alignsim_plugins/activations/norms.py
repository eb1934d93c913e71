"""What the norms keep."""

from __future__ import annotations

from typing import Any

from alignsim import maths, term
from alignsim_plugins.elements import FP32, TRACES

SOURCE = f"transformers 5.24: LlamaRMSNorm; {TRACES}"


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def norms_saved(
    hidden: Any, norms: Any, rms_norm: Any, frozen: Any, norm_saved_bytes: Any, residual_bytes: Any, fp32: Any = FP32
) -> Any:
    """The norms of one layer: input in 32 bits, normalised and scaled copies, and an inverse root a token.

    Frozen weights need no normalised copy. A LayerNorm is one kernel: it keeps its input and output.
    """
    return (
        norms
        / 2
        * (
            maths.where(
                rms_norm > 0,
                maths.where(frozen > 0, 2 * fp32 * hidden, norm_saved_bytes * hidden),
                4 * residual_bytes * hidden + 2 * fp32,
            )
            + 2 * fp32
        )
    )


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def input_norm_saved(hidden: Any, frozen: Any, fp32: Any = FP32) -> Any:
    """What the first norm of a layer still holds when the rest of the layer is done with."""
    return maths.where(frozen > 0, 1.5 * fp32 * hidden, 2 * fp32 * hidden)


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
    compute_bytes: Any,
    fp32: Any = FP32,
) -> Any:
    """Norms of queries and keys: a copy in 32 bits, a normalised one if weights are trained, a root a head."""
    return maths.where(
        qk_norm + qk_norm_full > 0,
        (fp32 + maths.where(frozen > 0, 0, compute_bytes)) * (query_width + key_width)
        + fp32 * (qk_norm * (heads + kv_heads) + qk_norm_full * 2),
        0,
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


NORMS = (norms_saved, input_norm_saved, qk_norms_saved, final_norm_saved)
