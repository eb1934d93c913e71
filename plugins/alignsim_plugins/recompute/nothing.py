"""Nothing is recomputed: every layer keeps all that its backward reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, term
from alignsim_plugins.recompute.slot import RECOMPUTE

SOURCE = "every layer keeps what its backward reads"


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def saved_activations(layer_saved: Any, reached_layers: Any, tokens: Any, first_layer_unsaved: Any) -> Any:
    """What one layer keeps, times those that backward reaches; the first keeps less if its input needs no gradient."""
    return (layer_saved * reached_layers - first_layer_unsaved) * tokens


NOTHING = Component(
    name="none",
    slot=RECOMPUTE,
    terms=(saved_activations,),
    defaults={
        "recomputes": Const(0, source=SOURCE),
        "recomputes_last": Const(0, source=SOURCE),
        "recomputed_share": Const(0, source=SOURCE),
        "reaches_inputs": Const(0, source=SOURCE),
        "recomputes_core": Const(0, source=SOURCE),
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer to recompute nothing."""
    yield NOTHING
