"""Adam: two moments for every parameter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, term
from alignsim_plugins.optimizers.slot import OPTIMIZER

SOURCE = "Kingma and Ba 2015, algorithm 1; 32-bit moments as in Rajbhandari et al. 2020, section 3.1"


@term("byte", per={"role"}, during={"train"}, group="model_state", source=SOURCE)
def optimizer_state(
    parameters: Any,
    first_moment_bytes: Any = Const(4, "byte/parameter", source=SOURCE),
    second_moment_bytes: Any = Const(4, "byte/parameter", source=SOURCE),
) -> Any:
    """Both moments of a whole model: parameters x (4 B + 4 B)."""
    return parameters * first_moment_bytes + parameters * second_moment_bytes


ADAM = Component(name="adam", slot=OPTIMIZER, terms=(optimizer_state,), source=SOURCE)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer Adam."""
    yield ADAM
