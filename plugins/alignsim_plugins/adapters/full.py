"""Full fine-tuning: every parameter is trained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, term
from alignsim_plugins.adapters.slot import ADAPTER, EVERYTHING, NOTHING_FROZEN
from alignsim_plugins.adapters.trained import TRAINED

SOURCE = "every parameter is trained"


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trainable_parameters(parameters: Any) -> Any:
    """All parameters of the model."""
    return parameters


@term("byte/parameter", per={"role"}, during={"train"}, source=SOURCE)
def gradient_bytes(weight_gradient_bytes: Any) -> Any:
    """A gradient is in its weight's format."""
    return weight_gradient_bytes


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trained_embedding(embedding_parameters: Any) -> Any:
    """Embeddings of tokens and positions; a tied head is among them."""
    return embedding_parameters


@term("layer", per={"role"}, during={"train"}, source=SOURCE)
def trained_layers(layers: Any) -> Any:
    """All layers."""
    return layers


@term("layer", per={"role"}, during={"train"}, source=SOURCE)
def reached_layers(layers: Any) -> Any:
    """Backward goes through all of them."""
    return layers


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trained_of_layer(layer_parameters: Any) -> Any:
    """All that a layer has."""
    return layer_parameters


NO_ADAPTERS = {
    name: Const(0, ADAPTER.promises[name], source="nothing is added to the model")
    for name in (
        "adapter_weights",
        "adapter_saved",
        "adapter_forward_work",
        "adapter_forward_end",
        "adapter_recomputed",
        "adapter_backward",
        "adapter_casts",
        "projection_bytes",
        "quantised_matrices",
    )
}
"""What adapters add, where there are none."""

FULL = Component(
    name="full",
    slot=ADAPTER,
    terms=(
        trainable_parameters,
        gradient_bytes,
        trained_embedding,
        trained_layers,
        reached_layers,
        trained_of_layer,
        *TRAINED,
    ),
    defaults={
        **NO_ADAPTERS,
        **{
            name: Const(0, source=SOURCE) for name in ("frozen", "frozen_embedding", "frozen_final_norm", "frozen_head")
        },
        "first_layer_unsaved": Const(0, "byte/token", source=SOURCE),
        "frozen_below": Const(0, "layer", source=SOURCE),
    },
    kinds={EVERYTHING, NOTHING_FROZEN},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer full fine-tuning."""
    yield FULL
