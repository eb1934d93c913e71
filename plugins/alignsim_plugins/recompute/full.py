"""Full recomputation: every layer keeps its input, and is computed again in its backward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, term
from alignsim_plugins.recompute.slot import RECOMPUTE

SOURCE = "Chen et al. 2016 (sublinear memory), section 4; torch.utils.checkpoint around every layer"


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def saved_activations(checkpoint_saved: Any, layers: Any, tokens: Any) -> Any:
    """The input of every layer."""
    return checkpoint_saved * layers * tokens


FULL = Component(
    name="full",
    slot=RECOMPUTE,
    terms=(saved_activations,),
    defaults={
        "recomputes": Const(1, source=SOURCE),
        "recomputes_last": Const(1, source=SOURCE),
        "recomputed_share": Const(1, source=SOURCE),
        "recomputes_core": Const(0, source=SOURCE),
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer full recomputation."""
    yield FULL
