"""Recomputation of some layers: the first so many, or every n-th of them; the others keep all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, maths, term
from alignsim_plugins.recompute.slot import RECOMPUTE

SOURCE = "Megatron-LM: recompute_method='block', recompute_num_layers; torchtitan: selective, every n-th layer"


@term("", per={"role"}, during={"train"}, source=SOURCE)
def recomputed_share(recomputed_layers: Any, layers: Any) -> Any:
    """Of the layers, those that are recomputed."""
    return maths.minimum(recomputed_layers, layers) / layers


@term("", per={"role"}, during={"train"}, source=SOURCE)
def recomputes(recomputed_layers: Any) -> Any:
    """The first layer is, if any is."""
    return 1 * (recomputed_layers > 0)


@term("", per={"role"}, during={"train"}, source=SOURCE)
def recomputes_last(recomputed_layers: Any, layers: Any) -> Any:
    """The last layer is, if all are."""
    return 1 * (recomputed_layers >= layers)


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def saved_activations(
    recomputed_share: Any,
    recomputes: Any,
    layers: Any,
    checkpoint_saved: Any,
    layer_saved: Any,
    first_layer_unsaved: Any,
    tokens: Any,
) -> Any:
    """The input of those layers, and all that the others keep."""
    return (
        recomputed_share * layers * checkpoint_saved
        + (1 - recomputed_share) * layers * layer_saved
        - (1 - recomputes) * first_layer_unsaved
    ) * tokens


SOME_LAYERS = Component(
    name="some-layers",
    slot=RECOMPUTE,
    terms=(recomputed_share, recomputes, recomputes_last, saved_activations),
    defaults={
        "recomputed_layers": Const(1, "layer", source="a choice: how many layers are recomputed"),
        "recomputes_core": Const(0, source=SOURCE),
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer recomputation of some layers."""
    yield SOME_LAYERS
