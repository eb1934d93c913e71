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
    shared_experts: Any,
    shared_ffn: Any,
    shared_gate: Any,
    router_in_32_bits: Any,
    fp32: Any = FP32,
    index: Any = INT64,
) -> Any:
    """Experts a token passes: gate, up, their product and more, input and output; router scores; four indices each.

    Shared experts are an MLP of their own; weighed by a gate, so is their output. A router of 32 bits has a copy of the
    input.
    """
    return (
        experts_per_token * compute_bytes * (4 * expert_ffn + 2 * hidden)
        + fp32 * experts
        + experts_per_token * (4 * index + fp32)
        + router_in_32_bits * fp32 * hidden
        + compute_bytes * (4 * shared_experts * shared_ffn + shared_gate * (hidden + 1))
    )


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def dense_down_input(relu: Any, gated: Any, ffn: Any, inner_bytes: Any) -> Any:
    """The input of the projection down, which only its weight's gradient needs, unless it is what ReLU keeps."""
    return inner_bytes * ffn * (1 - (gated <= 0) * relu)


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def down_input(experts: Any, dense_down_input: Any) -> Any:
    """The same of a layer; experts keep theirs anyhow."""
    return maths.where(experts > 0, 0, dense_down_input)


@term("byte/token", per={"role"}, during={"train"}, source=f"Shazeer 2020 (GLU variants), eq. 6; {TRACES}")
def dense_saved(
    written_out_gelu: Any, relu: Any, gated: Any, frozen: Any, ffn: Any, inner_bytes: Any, dense_down_input: Any
) -> Any:
    """Gate, up, activated gate and product; without a gate, before and after the activation, and what it keeps inside.

    ReLU keeps its result only, which is the input of the projection down. Frozen, nobody else keeps that input.
    """
    return inner_bytes * ffn * maths.where(gated > 0, 4, 2 + 3 * written_out_gelu - relu) - maths.where(
        frozen > 0, dense_down_input, 0
    )


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def mlp_saved(expert_layers: Any, layers: Any, experts_saved: Any, dense_saved: Any) -> Any:
    """The mean of all layers, with and without experts."""
    return (expert_layers * experts_saved + (layers - expert_layers) * dense_saved) / layers


MLP = (experts_saved, dense_down_input, down_input, dense_saved, mlp_saved)
