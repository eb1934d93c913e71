"""Gradients that a device keeps whole: they grow during backward, or exist already and are added to."""

from __future__ import annotations

from typing import Any

from alignsim import at, maths, span, term
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.elements import TRACES


@term("byte/parameter", per={"role"}, during={"train"}, source=TRACES)
def made_gradient_bytes(gradient_bytes: Any) -> Any:
    """A gradient is made in the format that it is kept in."""
    return gradient_bytes


@term("", per={"role"}, during={"train"}, source=TRACES)
def gradients_exist(accumulation_steps: Any) -> Any:
    """From the second micro-batch on."""
    return 1 * (accumulation_steps > 1)


@trained(live=span("backward_head", "backward_last_layer"))
def held_head_gradient(head_gradient: Any) -> Any:
    """The head's gradient is the first there is."""
    return head_gradient


@trained(live=at("backward_first_layer"))
def growing_gradients(
    gradient_bytes: Any,
    trainable_parameters: Any,
    trained_of_layer: Any,
    frozen_embedding: Any,
    late_gradients: Any,
    gradients_exist: Any,
) -> Any:
    """Gradients of all other layers and of the head, on the first micro-batch; the embedding's comes last."""
    return maths.where(
        gradients_exist > 0,
        0,
        gradient_bytes
        * (trainable_parameters - trained_of_layer - maths.where(frozen_embedding > 0, 0, late_gradients)),
    )


@trained(live=span("forward_layers", "backward_end"))
def accumulated_gradients(gradients: Any, accumulation_steps: Any) -> Any:
    """All gradients, from the second micro-batch on."""
    return maths.where(accumulation_steps > 1, gradients, 0)


@trained(live=at("backward_end"))
def gradients_at_the_end(
    gradients: Any,
    gradients_exist: Any,
    frozen_embedding: Any,
    gradient_bytes: Any,
    embedding_matrix: Any,
    tied_gradient_copies: Any,
    residual_bytes: Any,
    hidden: Any,
    tokens: Any,
) -> Any:
    """All gradients, the embedding's in as many copies as a tied head needs to add them, and the input's gradient."""
    return maths.where(gradients_exist > 0, 0, gradients) + maths.where(
        frozen_embedding > 0,
        0,
        gradient_bytes * embedding_matrix * (tied_gradient_copies + maths.where(gradients_exist > 0, 1, 0))
        + residual_bytes * hidden * tokens,
    )


MADE = (made_gradient_bytes, gradients_exist)
"""How gradients are made."""

KEPT = (held_head_gradient, growing_gradients, gradients_at_the_end)
"""What is held of them from when to when, beside those that exist before backward begins."""

GRADIENTS = (*MADE, *KEPT, accumulated_gradients)
