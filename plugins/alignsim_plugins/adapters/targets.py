"""Which matrices adapters of low rank sit on, and how wide those are.

A dense model has seven: query, key, value, output, gate, up and down. Experts are no modules of their own in
transformers, so nothing is adapted of them but those that every token passes; leading dense layers have their MLP.
In latent attention, "query" is the projection to queries (down and up, where there are two), "key" the one down to the
latent key and value, "value" the one up from it.
"""

from __future__ import annotations

from typing import Any

from alignsim import Const, Limit, maths, term
from alignsim.limits import SHARE, SWITCH
from alignsim_plugins.adapters.slot import ADAPTER
from alignsim_plugins.elements import ELEMENT

SOURCE = "Hu et al. 2022 (LoRA), section 4; peft 0.21: tuners/lora/layer.py"
EXPERTS = "transformers 5.24: routed experts are one parameter of three dimensions, which target_modules does not find"
LATENT = "transformers 5.24: deepseek_v3, q_a_proj, q_b_proj, kv_a_proj_with_mqa, kv_b_proj"

RANK = Limit(
    "hidden",
    "every adapted matrix has a side of at most the hidden width, and no rank above it; choose a lower one",
    least=1,
    whole=True,
)
"""Of adapters. PEFT itself takes any, and makes two matrices that are larger than the one they stand beside."""

DEFAULTS = {
    "lora_rank": Const(16, source="peft examples; r of LoraConfig", limit=RANK),
    "lora_dropout": Const(
        0, source="peft 0.21: LoraConfig, lora_dropout=0.0; any rate above 0 costs the same", limit=SHARE
    ),
    "adapter_bytes": Const(
        4, "byte/parameter", source="peft 0.21: autocast_adapter_dtype=True makes adapters 32-bit", limit=ELEMENT
    ),
    **{
        name: Const(1, source="peft 0.21: only adapters need gradients")
        for name in ("frozen", "frozen_embedding", "frozen_final_norm", "frozen_head")
    },
    "frozen_below": Const(0, "layer", source="every layer has adapters"),
    **{name: ADAPTER.none.defaults[name] for name in ("projection_bytes", "quantised_matrices")},
    **{
        name: Const(0, "parameter", source="adapters are matrices inside the layers")
        for name in ("trained_embedding", "trained_head", "trained_vectors", "trained_experts")
    },
    **{
        f"adapts_{name}": Const(1, source="all linear layers but the head", limit=SWITCH)
        for name in ("query", "key", "value", "output", "gate", "up", "down")
    },
}
"""Numbers of adapters; what it sits on is 1, what it does not is 0."""


@term("", per={"role"}, source=EXPERTS)
def adapted_ffn(experts: Any, shared_experts: Any, shared_ffn: Any, ffn: Any) -> Any:
    """Inner width of the MLP that adapters sit on, in a layer of the kind that a model has most of."""
    return maths.where(experts > 0, shared_experts * shared_ffn, ffn)


@term("", per={"role"}, source=SOURCE)
def attention_ports(
    adapts_query: Any,
    adapts_key: Any,
    adapts_value: Any,
    adapts_output: Any,
    hidden: Any,
    query_width: Any,
    key_width: Any,
) -> Any:
    """Inputs and outputs of all adapted projections of grouped attention."""
    return (
        adapts_query * (hidden + query_width)
        + (adapts_key + adapts_value) * (hidden + key_width)
        + adapts_output * (query_width + hidden)
    )


@term("", per={"role"}, source=LATENT)
def latent_ports(
    adapts_query: Any,
    adapts_key: Any,
    adapts_value: Any,
    adapts_output: Any,
    hidden: Any,
    heads: Any,
    q_lora_rank: Any,
    kv_lora_rank: Any,
    qk_nope_head_dim: Any,
    qk_rope_head_dim: Any,
    v_head_dim: Any,
) -> Any:
    """The same of latent attention."""
    return (
        adapts_query * (hidden + 2 * q_lora_rank + heads * (qk_nope_head_dim + qk_rope_head_dim))
        + adapts_key * (hidden + kv_lora_rank + qk_rope_head_dim)
        + adapts_value * (kv_lora_rank + heads * (qk_nope_head_dim + v_head_dim))
        + adapts_output * (heads * v_head_dim + hidden)
    )


@term("", per={"role"}, source=SOURCE)
def mlp_ports(adapts_gate: Any, adapts_up: Any, adapts_down: Any, gated: Any) -> Any:
    """How many matrices of an MLP are adapted."""
    return gated * adapts_gate + adapts_up + adapts_down


@term("parameter", per={"role"}, source=f"{SOURCE}: rank x (in + out) a matrix")
def thin_parameters(
    lora_rank: Any,
    layers: Any,
    expert_layers: Any,
    kv_lora_rank: Any,
    attention_ports: Any,
    latent_ports: Any,
    mlp_ports: Any,
    hidden: Any,
    ffn: Any,
    experts: Any,
    shared_experts: Any,
    shared_ffn: Any,
) -> Any:
    """Two thin matrices for every adapted one."""
    return lora_rank * (
        layers * maths.where(kv_lora_rank > 0, latent_ports, attention_ports)
        + (layers - expert_layers) * maths.where(ffn > 0, mlp_ports * (hidden + ffn), 0)
        + expert_layers * maths.where(shared_experts > 0, mlp_ports * (hidden + shared_experts * shared_ffn), 0)
    )


@term("parameter", per={"role"}, source=SOURCE)
def trainable_parameters(thin_parameters: Any) -> Any:
    """All of those, and nothing else."""
    return thin_parameters


@term("byte/parameter", per={"role"}, source="torch: a gradient is in its parameter's format")
def gradient_bytes(adapter_bytes: Any) -> Any:
    """A gradient is in its adapter's format."""
    return adapter_bytes


@term("layer", per={"role"}, during={"train"}, source=SOURCE)
def reached_layers(layers: Any) -> Any:
    """Every layer has adapters."""
    return layers


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trained_of_layer(trainable_parameters: Any, layers: Any) -> Any:
    """One layer's adapters."""
    return trainable_parameters / layers


@term("byte", per={"role"}, group="model_state", source=SOURCE)
def adapter_weights(trainable_parameters: Any, adapter_bytes: Any) -> Any:
    """Both matrices of every adapter."""
    return trainable_parameters * adapter_bytes


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def largest_trained(
    lora_rank: Any,
    hidden: Any,
    query_width: Any,
    adapts_query: Any,
    adapts_output: Any,
    adapts_gate: Any,
    adapts_up: Any,
    adapts_down: Any,
    ffn: Any,
    adapted_ffn: Any,
) -> Any:
    """The longest of the thin matrices."""
    return lora_rank * maths.maximum(
        maths.maximum(hidden, maths.where(adapts_query + adapts_output > 0, query_width, 0)),
        maths.where(adapts_gate + adapts_up + adapts_down > 0, maths.maximum(ffn, adapted_ffn), 0),
    )


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def largest_inner(largest_trained: Any) -> Any:
    """All adapters are in the layers."""
    return largest_trained


@term("", per={"role"}, during={"train"}, source=SOURCE)
def inner_side(lora_rank: Any) -> Any:
    """The shorter side of an adapter's matrix."""
    return lora_rank


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trained_edges(thin_parameters: Any, lora_rank: Any, layers: Any, adapters_of_layer: Any) -> Any:
    """The long sides of all matrices, and the rank twice for every adapter."""
    return maths.safe_divide(thin_parameters, lora_rank) + 2 * lora_rank * layers * adapters_of_layer


@term(
    "",
    per={"role"},
    during={"train"},
    source="peft 0.21: LoraConfig, target_modules",
    refuses="adapters are at no matrix that the model has, and nothing is trained: set one of adapts_query ... to 1",
)
def adapters_nowhere(trainable_parameters: Any) -> Any:
    """1 where no matrix has an adapter."""
    return 1 * (trainable_parameters <= 0)


TARGETS = (
    adapters_nowhere,
    adapted_ffn,
    attention_ports,
    latent_ports,
    mlp_ports,
    thin_parameters,
    trainable_parameters,
    gradient_bytes,
    reached_layers,
    trained_of_layer,
    adapter_weights,
    largest_trained,
    largest_inner,
    inner_side,
    trained_edges,
)
