"""DoRA: LoRA whose result is rescaled, each output by a trained magnitude over the norm of its merged weights.

The norm is taken of a whole matrix in the adapter's format, made by sending an identity matrix through the adapter.
What that needs is counted on top of the layer's worst other instant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, at, hookimpl, maths, span, term
from alignsim_plugins.activations.instants import inferred, trained
from alignsim_plugins.adapters import activations
from alignsim_plugins.adapters.slot import ADAPTER, ADAPTERS
from alignsim_plugins.adapters.targets import DEFAULTS, TARGETS
from alignsim_plugins.elements import FP32
from alignsim_plugins.rollouts.generate import NO_STEP, generated

SOURCE = "Liu et al. 2024 (DoRA), sections 4.2 and 4.3; peft 0.21: tuners/lora/dora.py, DoraLinearLayer.forward"


@term("", per={"role"}, source=SOURCE)
def adapter_outputs(
    attention_ports: Any,
    latent_ports: Any,
    kv_lora_rank: Any,
    mlp_ports: Any,
    hidden: Any,
    adapted_ffn: Any,
    adapter_inputs: Any,
) -> Any:
    """Outputs of all adapted projections of one layer."""
    return (
        maths.where(kv_lora_rank > 0, latent_ports, attention_ports)
        + (adapted_ffn > 0) * mlp_ports * (hidden + adapted_ffn)
        - adapter_inputs
    )


@term("parameter", per={"role"}, source=SOURCE)
def adapted_matrices(
    kv_lora_rank: Any,
    adapts_query: Any,
    adapts_key: Any,
    adapts_value: Any,
    adapts_output: Any,
    hidden: Any,
    query_width: Any,
    key_width: Any,
    latent_attention_parameters: Any,
    mlp_ports: Any,
    adapted_ffn: Any,
) -> Any:
    """Elements of all adapted matrices of one layer; all of latent attention count if any does."""
    return mlp_ports * hidden * adapted_ffn + maths.where(
        kv_lora_rank > 0,
        (adapts_query + adapts_key + adapts_value + adapts_output > 0) * latent_attention_parameters,
        hidden * ((adapts_query + adapts_output) * query_width + (adapts_key + adapts_value) * key_width),
    )


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trained_vectors(layers: Any, adapter_outputs: Any) -> Any:
    """Magnitudes: one for every output of an adapted projection."""
    return layers * adapter_outputs


@term("parameter", per={"role"}, source=SOURCE)
def trainable_parameters(thin_parameters: Any, layers: Any, adapter_outputs: Any) -> Any:
    """Both matrices of every adapter, and its magnitudes."""
    return thin_parameters + layers * adapter_outputs


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def adapter_saved(
    lora_saved: Any, adapter_outputs: Any, adapter_operand: Any, compute_bytes: Any, lora_dropout: Any
) -> Any:
    """What LoRA keeps, B(A(x)), and the frozen projection's result; where x is dropped, that is made again."""
    return lora_saved + adapter_outputs * (
        adapter_operand + maths.where(lora_dropout > 0, adapter_operand, compute_bytes)
    )


@term("byte/token", per={"role"}, source=SOURCE)
def up_adapter_work(
    adapts_up: Any,
    adapted_ffn: Any,
    hidden: Any,
    compute_bytes: Any,
    residual_bytes: Any,
    adapter_operand: Any,
    adapter_bytes: Any,
    adapter_copies: Any,
    lora_dropout: Any,
    fp32: Any = FP32,
) -> Any:
    """At the projection up: gate and up, B(A(x)), both rescaled, that times alpha; where x is dropped, up once more."""
    return (
        (adapts_up > 0)
        * (adapted_ffn > 0)
        * (
            (2 * compute_bytes + adapter_operand * (1 + (lora_dropout > 0)) + 3 * fp32) * adapted_ffn
            + (compute_bytes + residual_bytes + adapter_copies * fp32 + (lora_dropout > 0) * adapter_bytes) * hidden
        )
    )


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def scales_saved(
    adapter_outputs: Any,
    adapter_bytes: Any,
    adapter_widens: Any,
    adapter_operand: Any,
    lora_dropout: Any,
    adapted_matrices: Any,
) -> Any:
    """Of one layer: norms, scales, and scales less one; where x is dropped, matrices in the format that multiplies."""
    return (
        3 * adapter_bytes * adapter_outputs + adapter_widens * (lora_dropout > 0) * adapter_operand * adapted_matrices
    )


@trained(live=span("forward_layers", "backward_last_layer"), source=SOURCE)
def held_scales(scales_saved: Any, layers: Any, recomputed_share: Any) -> Any:
    """Of all layers that are not recomputed."""
    return (1 - recomputed_share) * layers * scales_saved


@trained(live=at("backward_first_layer"), source=SOURCE)
def scales_of_first_layer(scales_saved: Any) -> Any:
    """Of the last one that is left."""
    return scales_saved


@term("byte", per={"role"}, source=SOURCE)
def merged_matrix(
    adapter_bytes: Any,
    adapter_widens: Any,
    adapts_down: Any,
    adapts_gate: Any,
    adapts_up: Any,
    adapted_ffn: Any,
    hidden: Any,
    query_width: Any,
) -> Any:
    """An identity matrix, its image, a copy of the weights if wider, the image scaled, and the sum of the two."""
    return adapter_bytes * maths.maximum(
        (adapts_down > 0) * adapted_ffn * (adapted_ffn + (3 + adapter_widens) * hidden),
        hidden
        * (hidden + (3 + adapter_widens) * maths.maximum(query_width, (adapts_gate + adapts_up > 0) * adapted_ffn)),
    )


@trained(live=at("forward_layers"), source=SOURCE)
def merged_in_forward(merged_matrix: Any) -> Any:
    """One matrix at a time."""
    return merged_matrix


@trained(live=at("backward_last_layer", "backward_first_layer"), source=SOURCE)
def merged_in_recomputation(merged_matrix: Any, recomputes: Any) -> Any:
    """The same, when a layer is computed again."""
    return recomputes * merged_matrix


@inferred(live=at("forward_layers"), source=SOURCE)
def merged_in_inference(merged_matrix: Any) -> Any:
    """The same without gradients."""
    return merged_matrix


@generated(live=at("prefill"), source=SOURCE)
def merged_in_prefill(merged_matrix: Any) -> Any:
    """The same over the prompts."""
    return merged_matrix


@generated(live=at("decode"), source=SOURCE)
def merged_in_decoding(merged_matrix: Any, decode_working_set: Any = NO_STEP) -> Any:
    """The same for one token, where that is more than the rest of a step needs at its worst."""
    return maths.maximum(merged_matrix - decode_working_set, 0)


OWN = (
    adapter_outputs,
    adapted_matrices,
    trained_vectors,
    trainable_parameters,
    adapter_saved,
    up_adapter_work,
    scales_saved,
    held_scales,
    scales_of_first_layer,
    merged_matrix,
    merged_in_forward,
    merged_in_recomputation,
    merged_in_inference,
    merged_in_prefill,
    merged_in_decoding,
)
NAMES = {term.name for term in OWN}

DORA = Component(
    name="dora",
    slot=ADAPTER,
    terms=(*OWN, *(term for term in (*TARGETS, *activations.ACTIVATIONS) if term.name not in NAMES)),
    defaults={name: constant for name, constant in DEFAULTS.items() if name not in NAMES},
    kinds={ADAPTERS},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer DoRA."""
    yield DORA
