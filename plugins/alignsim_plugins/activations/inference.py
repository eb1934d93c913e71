"""The instants of a forward without gradients."""

from __future__ import annotations

from typing import Any

from alignsim import Const, at, maths, term
from alignsim_plugins.activations.instants import inferred
from alignsim_plugins.elements import TRACES

NOTHING = Const(0, "byte", source="a role that is never trained needs no gradients, and autocast keeps no casts for it")

NO_ADAPTERS = Const(0, "byte/token", source="a role that is never trained has no adapters")


@term("byte/token", per={"role"}, during={"infer"}, source=TRACES)
def inference_work(
    base_forward_work: Any, residual_bytes: Any, hidden: Any, adapter_forward_work: Any = NO_ADAPTERS
) -> Any:
    """A forward without gradients holds the embedding's output and the layer's input as well."""
    return maths.maximum(base_forward_work, adapter_forward_work) + 2 * residual_bytes * hidden


@inferred(live=at("forward_layers"))
def inference_working_set(inference_work: Any, tokens: Any, rotary_tables: Any) -> Any:
    """The worst instant of one layer, and the rotary tables."""
    return inference_work * tokens + rotary_tables


@inferred(live=at("forward_layers"))
def inference_mask(attention_mask: Any) -> Any:
    """Every layer reads it."""
    return attention_mask


@inferred(live=at("forward_layers", "forward_head"))
def inference_casts(layer_casts: Any = NOTHING, head_cast: Any = NOTHING, adapter_casts: Any = NOTHING) -> Any:
    """Casts of weights that need gradients are kept even where no gradient is made."""
    return layer_casts + head_cast + adapter_casts


INFERENCE = (inference_work, inference_working_set, inference_mask, inference_casts)
