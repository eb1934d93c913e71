"""The head trained over a frozen model: a reward model or critic at its cheapest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, term
from alignsim_plugins.adapters.frozen_parts import SOURCE, chosen, parts


@term("", per={"role"}, during={"train"}, source="the head is the embedding", name="frozen_embedding")
def trained_with_the_head(tied_head: Any) -> Any:
    """The embedding is trained only where it is the head."""
    return 1 - tied_head


HEAD_ONLY = parts(
    "head-only",
    trained_with_the_head,
    trained_layers=chosen(0, "the head alone", "layer"),
    frozen_final_norm=chosen(1, "the head alone is trained"),
    frozen_head=chosen(0, "the head alone is trained"),
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer to train the head alone."""
    yield HEAD_ONLY
