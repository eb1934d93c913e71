"""What all optimizers share: the format of what they keep for a parameter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Algorithm, Term, hookimpl, maths, term

SOURCE = "torch/optim: state is made like the parameter that is stepped, which is the 32-bit copy where there is one"


@term("byte/parameter", per={"role"}, during={"train"}, source=SOURCE)
def moment_bytes(gradient_bytes: Any, master_bytes: Any) -> Any:
    """A moment, and the gradient that a step reads, are in the format of the parameter that is stepped."""
    return maths.maximum(gradient_bytes, master_bytes)


@hookimpl
def alignsim_terms(algorithm: Algorithm) -> Iterator[Term]:
    """Offer the format of moments to every algorithm."""
    yield moment_bytes
