"""Full fine-tuning: every parameter is trained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, term
from alignsim_plugins.adapters.slot import ADAPTER

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
    terms=(trainable_parameters, gradient_bytes),
    defaults={
        name: constant
        for name, constant in ADAPTER.none.defaults.items()
        if name not in ("trainable_parameters", "gradient_bytes")
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer full fine-tuning."""
    yield FULL
