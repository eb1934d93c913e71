"""Full fine-tuning: every parameter is trained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, term
from alignsim_plugins.adapters.slot import ADAPTER, EVERYTHING
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


FULL = Component(
    name="full",
    slot=ADAPTER,
    terms=(trainable_parameters, gradient_bytes, *TRAINED),
    defaults={
        name: ADAPTER.none.defaults[name]
        for name in (
            "frozen",
            "adapter_weights",
            "adapter_saved",
            "adapter_forward_work",
            "adapter_forward_end",
            "adapter_recomputed",
            "adapter_backward",
            "first_layer_unsaved",
            "adapter_casts",
            "projection_bytes",
            "quantised_matrices",
        )
    },
    kinds={EVERYTHING},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer full fine-tuning."""
    yield FULL
