"""Some parts of a model trained, the others frozen: autograd keeps nothing that only a frozen weight would need.

What is trained is at the top. Below the first layer that is trained nothing needs a gradient: those layers keep nothing
for backward, which ends above them. A tied head is the embedding: neither can be trained without the other.
"""

from __future__ import annotations

from typing import Any

from alignsim import Component, Const, Limit, Term, maths, term
from alignsim.limits import SWITCH
from alignsim_plugins.adapters.full import NO_ADAPTERS, gradient_bytes
from alignsim_plugins.adapters.slot import ADAPTER, EVERYTHING
from alignsim_plugins.adapters.trained import TRAINED
from alignsim_plugins.elements import FP32, TRACES

SOURCE = f"torch: requires_grad_(False); {TRACES}"


@term("", per={"role"}, during={"train"}, source="Press and Wolf 2017: one matrix for both")
def tied_head(tied: Any, scalar_head: Any) -> Any:
    """1 where the head is the embedding."""
    return tied * (1 - scalar_head)


@term("layer", per={"role"}, during={"train"}, source=SOURCE)
def reached_layers(trained_layers: Any, layers: Any, reaches_inputs: Any, frozen_embedding: Any) -> Any:
    """Backward ends at the first layer that is trained, unless what comes before the layers needs a gradient."""
    return maths.where(reaches_inputs + (1 - frozen_embedding) > 0, layers, trained_layers)


@term("layer", per={"role"}, during={"train"}, source=SOURCE)
def frozen_below(reached_layers: Any, trained_layers: Any) -> Any:
    """Those that are reached and not trained, if others are."""
    return maths.where(trained_layers > 0, reached_layers - trained_layers, 0)


@term("", per={"role"}, during={"train"}, source=SOURCE)
def frozen(trained_layers: Any) -> Any:
    """1 if no layer is trained."""
    return 1 * (trained_layers <= 0)


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trained_embedding(frozen_embedding: Any, embedding_matrix: Any) -> Any:
    """The embedding of tokens, where that is trained; positions are not."""
    return (1 - frozen_embedding) * embedding_matrix


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trainable_parameters(
    trained_embedding: Any,
    trained_layers: Any,
    trained_expert_layers: Any,
    dense_layer_parameters: Any,
    expert_layer_parameters: Any,
    frozen_final_norm: Any,
    norm_parameters: Any,
    frozen_head: Any,
    head_parameters: Any,
) -> Any:
    """Those of all parts that are trained."""
    return (
        trained_embedding
        + (trained_layers - trained_expert_layers) * dense_layer_parameters
        + trained_expert_layers * expert_layer_parameters
        + (1 - frozen_final_norm) * norm_parameters
        + (1 - frozen_head) * head_parameters
    )


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trained_of_layer(trained_layers: Any, layer_parameters: Any) -> Any:
    """All that a trained layer has."""
    return (trained_layers > 0) * layer_parameters


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def first_layer_unsaved(
    reached_layers: Any,
    frozen_embedding: Any,
    reaches_inputs: Any,
    rms_norm: Any,
    hidden: Any,
    fp32: Any = FP32,
) -> Any:
    """The input of the first layer that is trained needs no gradient: its norm keeps what its weight needs, no more."""
    return (reached_layers > 0) * frozen_embedding * (1 - reaches_inputs) * rms_norm * fp32 * (hidden + 1)


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def adapter_backward(frozen: Any, down_input: Any) -> Any:
    """Where the projection down is frozen, none of its input is freed before the product's two gradients are made."""
    return frozen * down_input


SHARED = (
    adapter_backward,
    gradient_bytes,
    tied_head,
    trained_embedding,
    trainable_parameters,
    reached_layers,
    frozen_below,
    frozen,
    trained_of_layer,
    first_layer_unsaved,
    *TRAINED,
)


def parts(name: str, *terms: Term, source: str, **numbers: Const) -> Component:
    """Return an adapter that trains some parts, with the terms and the numbers that say which."""
    return Component(
        name=name,
        slot=ADAPTER,
        terms=(*SHARED, *terms),
        defaults={
            **{name: number for name, number in NO_ADAPTERS.items() if name != "adapter_backward"},
            "trains_parts": Const(1, source="for engines that ask"),
            **numbers,
        },
        kinds={EVERYTHING},
        limits={"trained_layers": Limit("layers", whole=True)},
        source=source,
    )


def chosen(value: float, source: str, unit: str = "", *, least: float = 0) -> Const:
    """Return a number of layers, or a switch, that says what is trained."""
    limit = Limit("layers", least=least, whole=True) if unit == "layer" else SWITCH
    return Const(value, unit, source=source, limit=limit)
