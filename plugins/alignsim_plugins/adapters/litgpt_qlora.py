"""LitGPT's LoRA over matrices in four bits, ``--quantize bnb.nf4``: the head is one of them.

Lightning's plugin makes every linear layer a 4-bit one, and quantises it from 16-bit floats of the old kind (fp16). So
a matrix is dequantised to these, and then copied to bfloat16. bitsandbytes 0.41 keeps what it multiplies by a frozen
matrix, as its own comment says for no use; 0.43 does not any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Limit, at, hookimpl, maths, term
from alignsim.limits import COUNT, SWITCH
from alignsim_plugins.activations.instants import inferred, trained
from alignsim_plugins.adapters import litgpt_lora, qlora
from alignsim_plugins.adapters.litgpt_lora import NUMBERS
from alignsim_plugins.adapters.slot import ADAPTER, ADAPTERS
from alignsim_plugins.elements import BOOL, FORMAT, FP32
from alignsim_plugins.losses.logits import PROMPT
from alignsim_plugins.rollouts.generate import NO_STEP, generated

FABRIC = "Lightning 2.1: fabric/plugins/precision/bitsandbytes.py"
KERNEL = "bitsandbytes 0.41: autograd/_functions.py, MatMul4Bit"
SOURCE = f"{FABRIC}; {KERNEL}"


@term("parameter", per={"role"}, source=f"{FABRIC}: all torch.nn.Linear, none ignored")
def quantised_head(scalar_head: Any, embedding_matrix: Any) -> Any:
    """The head of a language model."""
    return (1 - scalar_head) * embedding_matrix


@term("byte", per={"role"}, group="model_state", source=SOURCE, replaces=True)
def weights(
    parameters: Any,
    layers: Any,
    quantised_matrices: Any,
    quantised_head: Any,
    tied: Any,
    quantised_bytes: Any,
    weight_bytes: Any,
) -> Any:
    """Matrices of all layers and the head in four bits, the rest as it was; a tied head is a matrix of its own then."""
    return (layers * quantised_matrices + quantised_head) * quantised_bytes + (
        parameters - layers * quantised_matrices - (1 - tied) * quantised_head
    ) * weight_bytes


@term("byte/token", per={"role"}, during={"train"}, source=f"{KERNEL}: ctx.tensors = (A, B)")
def frozen_inputs_saved(
    keeps_frozen_inputs: Any,
    compute_bytes: Any,
    norms: Any,
    hidden: Any,
    mlp_width: Any,
    adapter_shares: Any,
    adapter_operand: Any,
    distinct_inputs: Any,
) -> Any:
    """Outputs of norms and the input of the projection down, unless adapters keep them; attention keeps its own."""
    return keeps_frozen_inputs * maths.maximum(
        compute_bytes * (maths.minimum(norms, 2) * hidden + mlp_width)
        - maths.where(adapter_shares > 0, adapter_operand * distinct_inputs, 0),
        0,
    )


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def adapter_saved(lora_saved: Any, padded_results: Any, frozen_inputs_saved: Any) -> Any:
    """As LitGPT's adapters do; and what the frozen projections multiply."""
    return lora_saved + padded_results + frozen_inputs_saved


@term("byte/token", per={"role"}, during={"train"}, source=KERNEL)
def first_layer_unsaved(
    rms_norm: Any,
    parallel: Any,
    mlp_saved: Any,
    frozen_inputs_saved: Any,
    keeps_frozen_inputs: Any,
    hidden: Any,
    compute_bytes: Any,
    residual_bytes: Any,
    lora_dropout: Any,
    query_key_value_inputs: Any,
    fp32: Any = FP32,
    truth: Any = BOOL,
) -> Any:
    """As with LitGPT's LoRA; and the first projection's input needs no gradient, so that it is not kept."""
    return (
        maths.where(rms_norm > 0, fp32 * hidden + fp32, residual_bytes * hidden + 2 * fp32)
        + parallel * (mlp_saved + frozen_inputs_saved)
        + (1 - parallel) * keeps_frozen_inputs * compute_bytes * hidden
        + (lora_dropout > 0) * truth * query_key_value_inputs
    )


@term("byte", per={"role"}, source=f"{KERNEL}: dequantised for every product, one projection to query, key and value")
def dequantised_matrix(dequantised_bytes: Any, hidden: Any, adapted_ffn: Any, query_width: Any, key_width: Any) -> Any:
    """The largest matrix of a layer."""
    return dequantised_bytes * hidden * maths.maximum(adapted_ffn, query_width + 2 * key_width)


@term("byte", per={"role"}, source=KERNEL)
def dequantised_head(dequantised_bytes: Any, quantised_head: Any) -> Any:
    """The head, in forward and again in backward."""
    return dequantised_bytes * quantised_head


@trained(live=at("forward_head", "backward_head"), source=KERNEL)
def dequantised_head_in_training(dequantised_head: Any) -> Any:
    """For the first chunk of tokens, when all other chunks' logits or gradients are there."""
    return dequantised_head


@inferred(live=at("forward_head"), source=KERNEL)
def dequantised_head_in_inference(dequantised_head: Any) -> Any:
    """The same without gradients."""
    return dequantised_head


@generated(live=at("prefill"), source=KERNEL)
def dequantised_in_prefill(
    dequantised_matrix: Any,
    dequantised_head: Any,
    adapted_ffn: Any,
    inner_bytes: Any,
    rollout_sequences: Any,
    prompt_tokens: Any = PROMPT,
) -> Any:
    """The head, or a layer's largest matrix while one tensor of the MLP's inner width is not yet there."""
    return maths.maximum(
        dequantised_head, dequantised_matrix - inner_bytes * adapted_ffn * rollout_sequences * prompt_tokens
    )


@generated(live=at("decode"), source="bitsandbytes 0.41: autograd/_functions.py, matmul_4bit: gemv_4bit of one row")
def dequantised_in_decoding(
    dequantised_matrix: Any, dequantised_head: Any, rollout_sequences: Any, decode_working_set: Any = NO_STEP
) -> Any:
    """The same for one token of each sequence, where that is more than the rest of a step needs; none for one alone."""
    return (rollout_sequences > 1) * maths.maximum(
        maths.maximum(dequantised_matrix, dequantised_head) - decode_working_set, 0
    )


OWN = (
    quantised_head,
    weights,
    frozen_inputs_saved,
    adapter_saved,
    first_layer_unsaved,
    dequantised_matrix,
    dequantised_head,
    dequantised_head_in_training,
    dequantised_head_in_inference,
    dequantised_in_prefill,
    dequantised_in_decoding,
)
SHARED = (
    qlora.quantised_bytes,
    qlora.quantised_matrices,
    qlora.dequantised,
    qlora.dequantised_in_training,
    qlora.dequantised_in_inference,
)
NAMES = {term.name for term in (*OWN, *SHARED)}

LITGPT_QLORA = Component(
    name="litgpt-qlora",
    slot=ADAPTER,
    terms=(*OWN, *SHARED, *(term for term in litgpt_lora.TERMS if term.name not in NAMES)),
    defaults={
        **{name: constant for name, constant in NUMBERS.items() if name not in NAMES},
        "quantised_bits": Const(4, source=f"{FABRIC}: nf4", limit=Limit(8, least=1)),
        "quantisation_block": Const(64, source="bitsandbytes 0.41: nn/modules.py, Params4bit", limit=COUNT),
        "double_quantised": Const(0, source="LitGPT 0.2: bnb.nf4; 1 for bnb.nf4-dq", limit=SWITCH),
        "keeps_frozen_inputs": Const(1, source=f"{KERNEL}; 0 from bitsandbytes 0.43 on", limit=SWITCH),
        "dequantised_bytes": Const(
            4, "byte", source=f"{FABRIC} quantises from fp16; {KERNEL}: to fp16, then to bfloat16", limit=FORMAT
        ),
    },
    limits={"experts": Limit(0, because="only dense models of LitGPT were looked at")},
    kinds={ADAPTERS},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer LitGPT's LoRA over four bits."""
    yield LITGPT_QLORA
