"""Recomputation of some layers: the first so many, or every n-th of them; the others keep all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Limit, hookimpl, maths, term
from alignsim_plugins.recompute.full import INPUTS, WHOLE_MODEL
from alignsim_plugins.recompute.slot import RECOMPUTE

SOURCE = "Megatron-LM: recompute_method='block', recompute_num_layers; torchtitan: selective, every n-th layer"


@term("", per={"role"}, during={"train"}, source=SOURCE)
def recomputed_share(recomputed_layers: Any, layers: Any, reached_layers: Any) -> Any:
    """Of the layers that backward reaches, those that are recomputed."""
    return maths.safe_divide(
        maths.maximum(maths.minimum(recomputed_layers, layers) - (layers - reached_layers), 0), reached_layers
    )


@term("", per={"role"}, during={"train"}, source=SOURCE)
def recomputes(recomputed_share: Any) -> Any:
    """The first layer is, if any is."""
    return 1 * (recomputed_share > 0)


@term("", per={"role"}, during={"train"}, source=SOURCE)
def recomputes_last(recomputed_layers: Any, layers: Any) -> Any:
    """The last layer is, if all are."""
    return 1 * (recomputed_layers >= layers)


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def saved_activations(
    recomputed_share: Any,
    recomputes: Any,
    reached_layers: Any,
    checkpoint_saved: Any,
    layer_saved: Any,
    first_layer_unsaved: Any,
    tokens: Any,
) -> Any:
    """The input of those layers, and all that the others keep."""
    return (
        recomputed_share * reached_layers * checkpoint_saved
        + (1 - recomputed_share) * reached_layers * layer_saved
        - (1 - recomputes) * first_layer_unsaved
    ) * tokens


SOME_LAYERS = Component(
    name="some-layers",
    slot=RECOMPUTE,
    terms=(recomputed_share, recomputes, recomputes_last, saved_activations),
    defaults={
        "recomputed_layers": Const(
            1,
            "layer",
            source="a choice: how many layers are recomputed",
            limit=Limit("layers", "no more layers can be recomputed than there are", whole=True),
        ),
        "reaches_inputs": Const(1, source=INPUTS),
        "recomputes_core": Const(0, source=SOURCE),
    },
    limits={"trains_parts": WHOLE_MODEL},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer recomputation of some layers."""
    yield SOME_LAYERS
