"""Megatron-Core's layers as a filling of the slot."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Const, Limit, hookimpl
from alignsim.limits import SWITCH
from alignsim_plugins.activations.megatron.eight_bits import EIGHT_BITS
from alignsim_plugins.activations.megatron.experts import EXPERT_TERMS
from alignsim_plugins.activations.megatron.head import HEAD_TERMS
from alignsim_plugins.activations.megatron.inference import INFERENCE
from alignsim_plugins.activations.megatron.saved import SAVED
from alignsim_plugins.activations.megatron.training import TRAINING
from alignsim_plugins.activations.megatron.work import WORK
from alignsim_plugins.activations.saved import attention_kept
from alignsim_plugins.activations.slot import DIVIDED_LAYERS, LAYERS
from alignsim_plugins.engines.slot import DIVIDES_LAYERS

RECOMPUTED = "Megatron-LM d98e8a64: recompute_modules; none of it is recomputed unless told"
FUSED = "Megatron-LM d98e8a64: training/arguments.py, fusions are on unless switched off"

SHARE = Limit(1, because="it is a share")
COUNTED = Limit(whole=True, because="it counts layers")

OPTIONS = {
    "hidden_dropout": Const(
        0, source="verl, NeMo-RL, Llama: no dropout; Megatron-LM's own default is 0.1", limit=SHARE
    ),
    "recomputed_norms": Const(0, source=f"{RECOMPUTED}: layernorm", limit=SWITCH),
    "recomputed_activation": Const(0, source=f"{RECOMPUTED}: moe_act, and the activation alone", limit=SWITCH),
    "recomputed_mlp": Const(0, source=f"{RECOMPUTED}: mlp", limit=SWITCH),
    "recomputed_experts": Const(0, source=f"{RECOMPUTED}: moe", limit=SWITCH),
    "recomputed_up_projection": Const(0, source=f"{RECOMPUTED}: mla_up_proj", limit=SWITCH),
    "expert_capacity_factor": Const(0, source="Megatron-LM d98e8a64: moe_expert_capacity_factor, dropless unless told"),
    "recomputed_layers_a_piece": Const(
        0, source="Megatron-LM d98e8a64: recompute_method block, recompute_num_layers", limit=COUNTED
    ),
    "expert_gathers": Const(
        0, source="Megatron-LM d98e8a64: moe_token_dispatcher_type alltoall; 1 for allgather", limit=SWITCH
    ),
    "expert_sends_directly": Const(
        0, source="Megatron-LM d98e8a64: moe_token_dispatcher_type alltoall; 1 for DeepEP", limit=SWITCH
    ),
    "fused_activation": Const(1, source=f"{FUSED}: bias_swiglu_fusion, bias_gelu_fusion", limit=SWITCH),
    "gradient_accumulation_fusion": Const(1, source=f"{FUSED}: gradient_accumulation_fusion", limit=SWITCH),
    "deallocate_pipeline_outputs": Const(
        1, source="Megatron-LM d98e8a64: deallocate_pipeline_outputs is set", limit=SWITCH
    ),
    "context_all_to_all": Const(0, source="Megatron-LM d98e8a64: cp_comm_type p2p; 1 for a2a", limit=SWITCH),
    "fp8": Const(0, source="Megatron-LM d98e8a64: no fp8 format unless told", limit=SWITCH),
    "fp8_param_gather": Const(0, source="Megatron-LM d98e8a64: fp8_param_gather, off unless told", limit=SWITCH),
    "fp8_transposes": Const(
        1,
        source="TransformerEngine 2.11: keep_fp8_weight_transpose_cache; 0 where products take any layout",
        limit=SWITCH,
    ),
    "casts_weights": Const(0, source="Megatron-LM: weights are stored as they are multiplied", limit=SWITCH),
}

MEGATRON = Component(
    name="megatron",
    slot=LAYERS,
    terms=(attention_kept, *SAVED, *EXPERT_TERMS, *EIGHT_BITS, *WORK, *TRAINING, *HEAD_TERMS, *INFERENCE),
    defaults=OPTIONS,
    kinds={DIVIDED_LAYERS},
    needs={"engine": DIVIDES_LAYERS},
    source="Korthikanti et al. 2022; Megatron-LM d98e8a64, TransformerEngine 2.11",
    left_out=("buffers of DeepEP, and of tensor ranks that overlap products with communication (userbuffers)",),
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer Megatron-Core's layers."""
    yield MEGATRON
