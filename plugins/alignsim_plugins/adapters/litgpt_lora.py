"""LoRA as LitGPT writes it: one adapter serves query, key and value together, and its result is padded with zeros.

One dropout drops from the input of all three. Where one of them is not adapted, the results for the others are copied
to their places among zeros, and autograd keeps what was copied. Adapters are in the format that weights are in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, maths, term
from alignsim.limits import SHARE, SWITCH
from alignsim_plugins.adapters.activations import ACTIVATIONS
from alignsim_plugins.adapters.slot import ADAPTER, ADAPTERS
from alignsim_plugins.adapters.targets import DEFAULTS, RANK, TARGETS
from alignsim_plugins.elements import BOOL, FP32

SOURCE = "LitGPT 0.2: litgpt/lora.py, LoRAQKVLinear"
SCRIPT = "LitGPT 0.2: litgpt/finetune/lora.py"


@term("byte/parameter", per={"role"}, source=f"{SCRIPT}: the module, adapters and all, is made in the run's format")
def adapter_bytes(weight_bytes: Any) -> Any:
    """As the weights are, were they not quantised."""
    return weight_bytes


@term("", per={"role"}, source=f"{SOURCE}.forward: one dropout of one input")
def query_key_value_inputs(adapts_query: Any, adapts_key: Any, adapts_value: Any, hidden: Any) -> Any:
    """Input of the projection to query, key and value, if any of them is adapted."""
    return maths.where(adapts_query + adapts_key + adapts_value > 0, hidden, 0)


@term("byte/token", per={"role"}, during={"train"}, source=f"{SOURCE}.zero_pad: index_copy keeps what it copies")
def padded_results(
    adapts_query: Any,
    adapts_key: Any,
    adapts_value: Any,
    query_width: Any,
    key_width: Any,
    adapter_operand: Any,
) -> Any:
    """Results of adapters at query, key and value, unless all three are adapted and nothing is padded."""
    return maths.where(
        adapts_query * adapts_key * adapts_value > 0,
        0,
        adapter_operand * (adapts_query * query_width + (adapts_key + adapts_value) * key_width),
    )


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def adapter_saved(lora_saved: Any, padded_results: Any) -> Any:
    """Inputs, each once, what the first of two thin matrices gives, and results that are padded."""
    return lora_saved + padded_results


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def first_layer_unsaved(
    rms_norm: Any,
    parallel: Any,
    mlp_saved: Any,
    hidden: Any,
    residual_bytes: Any,
    lora_dropout: Any,
    query_key_value_inputs: Any,
    fp32: Any = FP32,
    truth: Any = BOOL,
) -> Any:
    """The embedding's output needs no gradient: nor does what only it goes into, an MLP beside attention included."""
    return (
        maths.where(rms_norm > 0, fp32 * hidden + fp32, residual_bytes * hidden + 2 * fp32)
        + parallel * mlp_saved
        + (lora_dropout > 0) * truth * query_key_value_inputs
    )


OWN = (adapter_bytes, query_key_value_inputs, padded_results, adapter_saved, first_layer_unsaved)
NAMES = {term.name for term in OWN}
TERMS = (*OWN, *(term for term in (*TARGETS, *ACTIVATIONS) if term.name not in NAMES))
NUMBERS = {
    **{name: constant for name, constant in DEFAULTS.items() if name not in NAMES},
    "lora_rank": Const(8, source=f"{SCRIPT}: lora_r=8", limit=RANK),
    "lora_dropout": Const(0.05, source=f"{SCRIPT}: lora_dropout=0.05; any rate above 0 costs the same", limit=SHARE),
    **{
        f"adapts_{name}": Const(float(name in ("query", "value")), source=f"{SCRIPT}: query and value", limit=SWITCH)
        for name in ("query", "key", "value", "output", "gate", "up", "down")
    },
}

LITGPT_LORA = Component(
    name="litgpt-lora", slot=ADAPTER, terms=TERMS, defaults=NUMBERS, kinds={ADAPTERS}, source=SOURCE
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer LitGPT's LoRA."""
    yield LITGPT_LORA
