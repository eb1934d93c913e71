"""What the MLP keeps: dense or of experts."""

from __future__ import annotations

from typing import Any

from alignsim import maths, term
from alignsim_plugins.elements import FP32, INT64, TRACES


@term("byte/token", per={"role"}, source=f"transformers 5.24: grouped matrix multiplication of experts; {TRACES}")
def experts_saved(
    experts: Any,
    experts_per_token: Any,
    expert_ffn: Any,
    hidden: Any,
    compute_bytes: Any,
    fp32: Any = FP32,
    index: Any = INT64,
) -> Any:
    """Experts a token passes: gate, up, their product and more, input and output; router scores; four indices each."""
    return (
        experts_per_token * compute_bytes * (4 * expert_ffn + 2 * hidden)
        + fp32 * experts
        + experts_per_token * (4 * index + fp32)
    )


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def down_input(experts: Any, inner_bytes: Any, ffn: Any) -> Any:
    """The input of the projection down, which only its weight's gradient needs; experts keep theirs anyhow."""
    return maths.where(experts > 0, 0, inner_bytes * ffn)


@term("byte/token", per={"role"}, during={"train"}, source=f"Shazeer 2020 (GLU variants), eq. 6; {TRACES}")
def mlp_saved(
    written_out_gelu: Any,
    experts: Any,
    experts_saved: Any,
    gated: Any,
    frozen: Any,
    ffn: Any,
    inner_bytes: Any,
    down_input: Any,
) -> Any:
    """Gate, up, activated gate and product; without a gate, before and after the activation, and what it keeps inside.

    Frozen, the input of the projection down is kept by nobody.
    """
    return maths.where(
        experts > 0,
        experts_saved,
        inner_bytes * ffn * maths.where(gated > 0, 4, 2 + 3 * written_out_gelu) - frozen * down_input,
    )


MLP = (experts_saved, down_input, mlp_saved)
