"""QLoRA: LoRA over matrices in four bits; what stays as it is has the run's own format.

``prepare_model_for_kbit_training`` turns all that is not in four bits (embedding, head, norms) into 32 bits: that is
the precision ``autocast-fp32``. Without it the rest stays in 16 bits, as in ``autocast-bf16`` or ``bf16``. Routed
experts are no linear layers in transformers 5.24, and so are not quantised.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Limit, at, hookimpl, maths, term
from alignsim.limits import COUNT, SWITCH
from alignsim_plugins.activations.instants import inferred, trained
from alignsim_plugins.adapters.activations import ACTIVATIONS
from alignsim_plugins.adapters.slot import ADAPTER, ADAPTERS
from alignsim_plugins.adapters.targets import DEFAULTS, TARGETS
from alignsim_plugins.elements import BOOL, FP32
from alignsim_plugins.losses.logits import PROMPT
from alignsim_plugins.rollouts.generate import NO_STEP, generated

SOURCE = "Dettmers et al. 2023 (QLoRA), section 3"
CODE = "bitsandbytes 0.50: autograd/_functions.py, MatMul4Bit; nn/modules.py, Linear4bit"
PEFT = "peft 0.21: tuners/lora/bnb.py, Linear4bit.forward"


@term("byte/parameter", per={"role"}, source=f"{SOURCE}: blocks of 64, double quantisation with blocks of 256")
def quantised_bytes(
    quantised_bits: Any, quantisation_block: Any, double_quantised: Any, byte: Any = BOOL, fp32: Any = FP32
) -> Any:
    """Four bits and a maximum a block; doubly quantised, that maximum in a byte, and one more for 256 of them."""
    return byte * (quantised_bits / 8 + maths.where(double_quantised > 0, 1 + 4 / 256, 4) / quantisation_block)


@term(
    "parameter", per={"role"}, source="transformers 5.24: integrations/bitsandbytes.py replaces nn.Linear, not the head"
)
def quantised_matrices(
    attention_parameters: Any,
    attention_extra_parameters: Any,
    kv_lora_rank: Any,
    q_lora_rank: Any,
    qkv_bias: Any,
    query_width: Any,
    key_width: Any,
    output_bias: Any,
    hidden: Any,
    gated: Any,
    adapted_ffn: Any,
) -> Any:
    """Matrices of one layer, of the kind that a model has most of: those of attention, and of an MLP of one piece."""
    return (
        attention_parameters
        - maths.where(
            kv_lora_rank > 0,
            q_lora_rank + kv_lora_rank,
            attention_extra_parameters + qkv_bias * (query_width + 2 * key_width) + output_bias * hidden,
        )
        + (2 + gated) * hidden * adapted_ffn
    )


@term("parameter", per={"role"}, source="the matrices of all layers")
def quantised_parameters(
    layers: Any, expert_layers: Any, quantised_matrices: Any, gated: Any, hidden: Any, adapted_ffn: Any, ffn: Any
) -> Any:
    """Those of all layers; leading dense layers have an MLP of their own width."""
    return layers * quantised_matrices + (expert_layers > 0) * (layers - expert_layers) * (2 + gated) * hidden * (
        ffn - adapted_ffn
    )


@term("byte", per={"role"}, group="model_state", source=SOURCE, replaces=True)
def weights(parameters: Any, quantised_parameters: Any, quantised_bytes: Any, weight_bytes: Any) -> Any:
    """What is in four bits, and the rest in the run's own format."""
    return quantised_parameters * quantised_bytes + (parameters - quantised_parameters) * weight_bytes


@term("byte", per={"role"}, source=f"{CODE}: results are given back in the input's format")
def projection_bytes(residual_bytes: Any) -> Any:
    """As the residual stream is."""
    return residual_bytes


@term("", per={"role"}, source=PEFT)
def adapter_copies(autocast: Any, adapter_widens: Any) -> Any:
    """Under autocast the input is not copied in the adapter's format."""
    return (autocast <= 0) * adapter_widens


@term("", per={"role"}, source=PEFT)
def adapter_shares(
    autocast: Any, lora_dropout: Any, residual_bytes: Any, compute_bytes: Any, adapter_bytes: Any
) -> Any:
    """1 where adapters multiply the projection's own input: nothing is dropped from it or cast."""
    return (lora_dropout <= 0) * maths.where(
        autocast > 0,
        1 * (residual_bytes <= compute_bytes),
        (adapter_bytes <= compute_bytes) * (adapter_bytes >= compute_bytes),
    )


@term("byte/token", per={"role"}, during={"train"}, source=PEFT)
def adapter_saved(
    adapters_of_layer: Any,
    lora_rank: Any,
    adapter_operand: Any,
    adapter_shares: Any,
    adapter_inputs: Any,
    distinct_inputs: Any,
    output_inputs: Any,
    lora_dropout: Any,
    autocast: Any,
    truth: Any = BOOL,
) -> Any:
    """As with LoRA; but under autocast attention's output is no copy if nothing is dropped from it."""
    return adapter_operand * lora_rank * adapters_of_layer + maths.where(
        adapter_shares > 0,
        adapter_operand * distinct_inputs,
        (adapter_operand + (lora_dropout > 0) * truth) * adapter_inputs
        - (autocast > 0) * (lora_dropout <= 0) * adapter_operand * output_inputs,
    )


@term("byte/token", per={"role"}, source=f"{PEFT}: result.clone()")
def up_adapter_work(
    adapts_up: Any, adapted_ffn: Any, hidden: Any, inner_bytes: Any, residual_bytes: Any, adapter_operand: Any
) -> Any:
    """At the projection up: the activated gate, a copy of the result, B(A(x)) scaled, and the sum of the two."""
    return (
        (adapts_up > 0)
        * (adapted_ffn > 0)
        * ((3 * inner_bytes + adapter_operand) * adapted_ffn + 2 * residual_bytes * hidden)
    )


@term("byte/token", per={"role"}, during={"train"}, source=f"{CODE}; {PEFT}: torch 2.13, live storages")
def adapter_backward(adapts_down: Any, adapted_ffn: Any, inner_bytes: Any, adapter_operand: Any) -> Any:
    """The product's gradients from the adapter and from the projection, and their sum, when the adapter's x is gone.

    Without an adapter at down, nothing is freed before the product's two gradients are made.
    """
    return adapted_ffn * maths.where(adapts_down > 0, maths.maximum(inner_bytes - adapter_operand, 0), inner_bytes)


@term("byte", per={"role"}, source=f"{CODE}: dequantised for every product, in the format of arithmetic")
def dequantised_matrix(compute_bytes: Any, hidden: Any, adapted_ffn: Any, query_width: Any) -> Any:
    """The largest matrix."""
    return compute_bytes * hidden * maths.maximum(adapted_ffn, query_width)


@term("byte", per={"role"}, during={"train", "infer"}, source=CODE)
def dequantised(dequantised_matrix: Any, adapted_ffn: Any, inner_bytes: Any, tokens: Any) -> Any:
    """The largest matrix, while one tensor of the MLP's inner width is not yet there."""
    return maths.maximum(dequantised_matrix - inner_bytes * adapted_ffn * tokens, 0)


@trained(live=at("forward_layers", "backward_last_layer", "backward_first_layer"), source=CODE)
def dequantised_in_training(dequantised: Any) -> Any:
    """One matrix at a time."""
    return dequantised


@inferred(live=at("forward_layers"), source=CODE)
def dequantised_in_inference(dequantised: Any) -> Any:
    """One matrix at a time."""
    return dequantised


@generated(live=at("prefill"), source=CODE)
def dequantised_in_prefill(
    dequantised_matrix: Any, adapted_ffn: Any, inner_bytes: Any, rollout_sequences: Any, prompt_tokens: Any = PROMPT
) -> Any:
    """The same over the prompts."""
    return maths.maximum(dequantised_matrix - inner_bytes * adapted_ffn * rollout_sequences * prompt_tokens, 0)


@generated(live=at("decode"), source="bitsandbytes 0.50: autograd/_functions.py, matmul_4bit: gemv_4bit of one row")
def dequantised_in_decoding(dequantised_matrix: Any, rollout_sequences: Any, decode_working_set: Any = NO_STEP) -> Any:
    """The same for one token of each sequence, where that is more than the rest of a step needs; none for one alone."""
    return (rollout_sequences > 1) * maths.maximum(dequantised_matrix - decode_working_set, 0)


OWN = (
    quantised_bytes,
    quantised_matrices,
    quantised_parameters,
    weights,
    projection_bytes,
    adapter_copies,
    adapter_shares,
    adapter_saved,
    up_adapter_work,
    adapter_backward,
    dequantised_matrix,
    dequantised,
    dequantised_in_training,
    dequantised_in_inference,
    dequantised_in_prefill,
    dequantised_in_decoding,
)
NAMES = {term.name for term in OWN}

QLORA = Component(
    name="qlora",
    slot=ADAPTER,
    terms=(*OWN, *(term for term in (*TARGETS, *ACTIVATIONS) if term.name not in NAMES)),
    defaults={
        **{name: constant for name, constant in DEFAULTS.items() if name not in NAMES},
        "quantised_bits": Const(4, source=f"{SOURCE}: NF4", limit=Limit(8, least=1)),
        "quantisation_block": Const(64, source=f"{SOURCE}: blocks of 64", limit=COUNT),
        "double_quantised": Const(
            1, source=f"{SOURCE}; transformers leaves it off: bnb_4bit_use_double_quant=False", limit=SWITCH
        ),
    },
    kinds={ADAPTERS},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer QLoRA."""
    yield QLORA
