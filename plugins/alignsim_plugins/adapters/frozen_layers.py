"""The embedding and the first layers frozen, all else trained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, maths, term
from alignsim_plugins.adapters.frozen_parts import SOURCE, chosen, parts


@term("layer", per={"role"}, during={"train"}, source=SOURCE)
def trained_layers(layers: Any, frozen_layers: Any) -> Any:
    """All but the first so many."""
    return layers - maths.minimum(frozen_layers, layers)


@term("", per={"role"}, during={"train"}, source="the head is the embedding", name="frozen_head")
def frozen_with_the_embedding(tied_head: Any) -> Any:
    """A head of its own is trained."""
    return tied_head


FROZEN_LAYERS = parts(
    "frozen-layers",
    trained_layers,
    frozen_with_the_embedding,
    frozen_layers=chosen(0, "a choice: the embedding alone is frozen", "layer"),
    frozen_embedding=chosen(1, "frozen like the layers above it"),
    frozen_final_norm=chosen(0, "trained like the layers below it"),
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer to train all but the first layers."""
    yield FROZEN_LAYERS
