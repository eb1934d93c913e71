"""What all optimizers share: the format of what they keep for a parameter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Algorithm, Term, hookimpl, maths, term
from alignsim_plugins.elements import TRACES

SOURCE = "torch/optim: state is made like the parameter that is stepped, which is the 32-bit copy where there is one"


@term("byte/parameter", per={"role"}, during={"train"}, source=SOURCE)
def moment_bytes(gradient_bytes: Any, master_bytes: Any) -> Any:
    """A moment, and the gradient that a step reads, are in the format of the parameter that is stepped."""
    return maths.maximum(gradient_bytes, master_bytes)


@term("byte", per={"role"}, during={"train"}, source=f"{SOURCE}; {TRACES}")
def last_gradient_cast(largest_trained: Any, gradient_bytes: Any, master_bytes: Any) -> Any:
    """The last gradient that is still to be freed after its cast to the format of the 32-bit copy."""
    return maths.where(master_bytes > 0, largest_trained * gradient_bytes, 0)


@term(
    "byte",
    per={"role"},
    during={"train"},
    name="step_memory",
    source="a step in place: the most is there before it, as gradients are cast",
)
def in_place(last_gradient_cast: Any) -> Any:
    """Nothing beside the state, but for what is left of narrower gradients."""
    return last_gradient_cast


IN_PLACE = (last_gradient_cast, in_place)
"""What a step needs that updates one tensor after the other where they are."""


@hookimpl
def alignsim_terms(algorithm: Algorithm) -> Iterator[Term]:
    """Offer the format of moments to every algorithm."""
    yield moment_bytes
