"""The last layers trained, all else frozen: the norm and the head above them, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, maths, term
from alignsim_plugins.adapters.frozen_parts import SOURCE, chosen, parts

FREEZE = "LLaMA-Factory ff6d4d12: model/adapter.py, finetuning_type 'freeze'"


@term("layer", per={"role"}, during={"train"}, source=FREEZE, name="trained_layers")
def last_trained_layers(layers: Any, last_layers: Any) -> Any:
    """The last so many."""
    return maths.minimum(last_layers, layers)


LAST_LAYERS = parts(
    "last-layers",
    last_trained_layers,
    last_layers=chosen(2, f"{FREEZE}, freeze_trainable_layers=2", "layer", least=1),
    frozen_embedding=chosen(1, FREEZE),
    frozen_final_norm=chosen(1, FREEZE),
    frozen_head=chosen(1, FREEZE),
    source=f"{FREEZE}; {SOURCE}",
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer to train the last layers."""
    yield LAST_LAYERS
