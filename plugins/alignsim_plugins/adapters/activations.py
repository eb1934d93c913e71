"""What adapters of low rank keep and need: B(A(dropout(x))), beside the frozen projection of x."""

from __future__ import annotations

from typing import Any

from alignsim import maths, term
from alignsim_plugins.elements import BOOL, FP32, TRACES

SOURCE = f"peft 0.21: tuners/lora/layer.py, Linear.forward; {TRACES}"


@term("byte", per={"role"}, source="torch.autocast: operands of matrix multiplications are cast")
def adapter_operand(autocast: Any, compute_bytes: Any, adapter_bytes: Any) -> Any:
    """An operand of an adapter's multiplication."""
    return maths.where(autocast > 0, compute_bytes, adapter_bytes)


@term("", per={"role"}, source="peft 0.21: the input is cast to the adapter's format")
def adapter_widens(adapter_bytes: Any, compute_bytes: Any) -> Any:
    """1 where an adapter is in a wider format than arithmetic is."""
    return adapter_bytes > compute_bytes


@term("", per={"role"}, source="peft 0.21: tuners/lora/layer.py, _cast_input_dtype")
def adapter_copies(adapter_widens: Any) -> Any:
    """1 where a projection's input is copied in the adapter's format."""
    return adapter_widens


@term("", per={"role"}, source=SOURCE)
def adapter_shares(adapter_bytes: Any, compute_bytes: Any, casts_weights: Any, lora_dropout: Any) -> Any:
    """1 where adapters multiply the projection's own input: nothing is dropped from it or cast."""
    return (adapter_bytes <= compute_bytes) * (adapter_bytes >= compute_bytes) * (casts_weights + lora_dropout <= 0)


@term("", per={"role"}, source=SOURCE)
def query_key_value_inputs(
    adapts_query: Any, adapts_key: Any, adapts_value: Any, hidden: Any, q_lora_rank: Any, kv_lora_rank: Any
) -> Any:
    """Inputs of the adapted projections to query, key and value together, the inner ones of latent attention too."""
    return (
        adapts_query * (hidden + q_lora_rank)
        + adapts_key * hidden
        + adapts_value * maths.where(kv_lora_rank > 0, kv_lora_rank, hidden)
    )


@term("", per={"role"}, source=SOURCE)
def output_inputs(adapts_output: Any, kv_lora_rank: Any, heads: Any, v_head_dim: Any, query_width: Any) -> Any:
    """Input of the projection out of attention, if that is adapted."""
    return adapts_output * maths.where(kv_lora_rank > 0, heads * v_head_dim, query_width)


@term("", per={"role"}, source=SOURCE)
def adapter_inputs(
    query_key_value_inputs: Any,
    output_inputs: Any,
    gated: Any,
    adapts_gate: Any,
    adapts_up: Any,
    adapts_down: Any,
    adapted_ffn: Any,
    hidden: Any,
) -> Any:
    """Inputs of all adapted projections of one layer."""
    return (
        query_key_value_inputs
        + output_inputs
        + maths.where(adapted_ffn > 0, (gated * adapts_gate + adapts_up) * hidden + adapts_down * adapted_ffn, 0)
    )


@term("", per={"role"}, source=SOURCE)
def distinct_inputs(
    adapts_query: Any,
    adapts_key: Any,
    adapts_value: Any,
    adapts_gate: Any,
    adapts_up: Any,
    adapts_down: Any,
    gated: Any,
    adapted_ffn: Any,
    hidden: Any,
    q_lora_rank: Any,
    kv_lora_rank: Any,
) -> Any:
    """Inputs that several projections share, each once; attention keeps its own output, which is that projection's."""
    return (
        maths.where(adapts_query + adapts_key + adapts_value * (kv_lora_rank <= 0) > 0, hidden, 0)
        + adapts_query * q_lora_rank
        + adapts_value * kv_lora_rank
        + maths.where(
            adapted_ffn > 0,
            maths.where(gated * adapts_gate + adapts_up > 0, hidden, 0) + adapts_down * adapted_ffn,
            0,
        )
    )


@term("", per={"role"}, source=SOURCE)
def adapters_of_layer(
    adapts_query: Any,
    adapts_key: Any,
    adapts_value: Any,
    adapts_output: Any,
    q_lora_rank: Any,
    adapted_ffn: Any,
    mlp_ports: Any,
) -> Any:
    """How many adapters one layer has; latent queries have two."""
    return (
        adapts_query * (1 + (q_lora_rank > 0))
        + adapts_key
        + adapts_value
        + adapts_output
        + (adapted_ffn > 0) * mlp_ports
    )


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def lora_saved(
    adapters_of_layer: Any,
    lora_rank: Any,
    adapter_operand: Any,
    adapter_shares: Any,
    adapter_inputs: Any,
    distinct_inputs: Any,
    lora_dropout: Any,
    truth: Any = BOOL,
) -> Any:
    """A(x) of every adapter, and x: itself, once for all that read it; or cast or dropped, for each, with a mask."""
    return adapter_operand * lora_rank * adapters_of_layer + maths.where(
        adapter_shares > 0,
        adapter_operand * distinct_inputs,
        (adapter_operand + (lora_dropout > 0) * truth) * adapter_inputs,
    )


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def adapter_saved(lora_saved: Any) -> Any:
    """What its two thin matrices keep, and nothing else."""
    return lora_saved


@term("byte/token", per={"role"}, source=SOURCE)
def up_adapter_work(
    adapts_up: Any,
    adapted_ffn: Any,
    hidden: Any,
    compute_bytes: Any,
    inner_bytes: Any,
    residual_bytes: Any,
    adapter_operand: Any,
    adapter_copies: Any,
    fp32: Any = FP32,
) -> Any:
    """At the projection up: gate and up, B(A(x)) and that scaled; x and its wide copy, and the residual."""
    return (
        (adapts_up > 0)
        * (adapted_ffn > 0)
        * (
            2 * (inner_bytes + adapter_operand) * adapted_ffn
            + (compute_bytes + residual_bytes + adapter_copies * fp32) * hidden
        )
    )


@term("byte/token", per={"role"}, source=SOURCE)
def down_adapter_work(
    adapts_down: Any,
    adapted_ffn: Any,
    hidden: Any,
    compute_bytes: Any,
    inner_bytes: Any,
    residual_bytes: Any,
    adapter_bytes: Any,
    adapter_copies: Any,
    autocast: Any,
    lora_dropout: Any,
    fp32: Any = FP32,
) -> Any:
    """At the projection down: x, its wide copy, that dropped, that cast; the output, the residual and the input."""
    return (
        (adapts_down > 0)
        * (adapted_ffn > 0)
        * (
            (
                inner_bytes
                + adapter_copies * (fp32 + (autocast > 0) * compute_bytes)
                + (lora_dropout > 0) * adapter_bytes
            )
            * adapted_ffn
            + (compute_bytes + 2 * residual_bytes) * hidden
        )
    )


@term("byte/token", per={"role"}, source=SOURCE)
def adapter_forward_work(up_adapter_work: Any, down_adapter_work: Any) -> Any:
    """The worst instant of a layer's forward at one of its adapters."""
    return maths.maximum(up_adapter_work, down_adapter_work)


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def adapter_forward_end(
    adapts_down: Any,
    adapted_ffn: Any,
    hidden: Any,
    compute_bytes: Any,
    inner_bytes: Any,
    residual_bytes: Any,
    adapter_operand: Any,
    adapter_copies: Any,
    adapter_shares: Any,
    autocast: Any,
    lora_dropout: Any,
    fp32: Any = FP32,
) -> Any:
    """What is not kept of x and its copies; the residual, the frozen output, B(A(x)) and that scaled."""
    return (
        (adapts_down > 0)
        * (adapted_ffn > 0)
        * (
            (
                (1 - adapter_shares) * inner_bytes
                + adapter_copies
                * fp32
                * (maths.maximum(1.0 * (autocast > 0), 1.0 * (lora_dropout > 0)) + (autocast > 0) * (lora_dropout > 0))
            )
            * adapted_ffn
            + (residual_bytes + compute_bytes + 2 * adapter_operand) * hidden
        )
    )


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def adapter_recomputed(
    adapts_up: Any,
    adapts_down: Any,
    adapted_ffn: Any,
    hidden: Any,
    compute_bytes: Any,
    residual_bytes: Any,
    adapter_operand: Any,
    adapter_shares: Any,
    lora_dropout: Any,
    truth: Any = BOOL,
) -> Any:
    """At the projection up: B(A(x)) and that scaled, not yet what the adapter of down keeps.

    Beside them the norm's output, unless adapters keep it, the residual, and the output's gradient as down's adapter
    and down itself take it.
    """
    return (
        (adapts_up > 0)
        * (adapted_ffn > 0)
        * (
            2 * adapter_operand * adapted_ffn
            - (adapts_down > 0) * (adapter_operand + (lora_dropout > 0) * truth) * adapted_ffn
            + (
                (2 - adapter_shares) * residual_bytes
                + adapter_operand
                + (adapter_operand > compute_bytes) * compute_bytes
            )
            * hidden
        )
    )


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def adapter_backward(adapts_down: Any, adapted_ffn: Any, inner_bytes: Any) -> Any:
    """Without an adapter at down, none of its input is freed before the product's two gradients are made."""
    return (adapts_down <= 0) * adapted_ffn * inner_bytes


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def first_layer_unsaved(
    hidden: Any,
    lora_dropout: Any,
    adapts_query: Any,
    adapts_key: Any,
    adapts_value: Any,
    kv_lora_rank: Any,
    fp32: Any = FP32,
    truth: Any = BOOL,
) -> Any:
    """The embedding's output needs no gradient: the first norm keeps nothing, nor do the dropouts that follow it."""
    return (
        fp32 * hidden
        + fp32
        + (lora_dropout > 0) * truth * hidden * (adapts_query + adapts_key + adapts_value * (kv_lora_rank <= 0))
    )


@term(
    "byte",
    per={"role"},
    during={"train"},
    source="torch.autocast keeps the cast of a weight that needs a gradient until it is left",
)
def adapter_casts(autocast: Any, adapter_widens: Any, trainable_parameters: Any, compute_bytes: Any) -> Any:
    """Narrow copies of wide adapters."""
    return (autocast > 0) * adapter_widens * compute_bytes * trainable_parameters


ACTIVATIONS = (
    adapter_operand,
    adapter_widens,
    adapter_copies,
    adapter_shares,
    query_key_value_inputs,
    output_inputs,
    adapter_inputs,
    distinct_inputs,
    adapters_of_layer,
    lora_saved,
    adapter_saved,
    up_adapter_work,
    down_adapter_work,
    adapter_forward_work,
    adapter_forward_end,
    adapter_recomputed,
    adapter_backward,
    first_layer_unsaved,
    adapter_casts,
)
