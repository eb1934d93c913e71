"""Model state of whole models: what every role keeps for each parameter, before anything is spread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Algorithm, Collect, Term, hookimpl, term

SOURCE = "Rajbhandari et al. 2020 (ZeRO), section 3.1"


@term("byte", per={"role"}, group="model_state", source=SOURCE)
def weights(parameters: Any, weight_bytes: Any) -> Any:
    """Weights that the forward pass reads."""
    return parameters * weight_bytes


@term("byte", per={"role"}, during={"train"}, group="model_state", source=SOURCE)
def gradients(trainable_parameters: Any, gradient_bytes: Any) -> Any:
    """One gradient for every trained parameter."""
    return trainable_parameters * gradient_bytes


@term("byte", per={"role"}, during={"train"}, group="model_state", source=SOURCE)
def master_weights(trainable_parameters: Any, master_bytes: Any) -> Any:
    """The copy of the weights that the optimizer updates; 0 bytes where it updates the weights themselves."""
    return trainable_parameters * master_bytes


@term("byte", per={"role"}, source=SOURCE)
def model_state(parts: Any = Collect("model_state")) -> Any:
    """All that a role keeps for its parameters."""
    return parts


MODEL_STATE = (weights, gradients, master_weights, model_state)


@hookimpl
def alignsim_terms(algorithm: Algorithm) -> Iterator[Term]:
    """Offer the state of whole models to every algorithm."""
    yield from MODEL_STATE
