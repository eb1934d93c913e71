"""A role under Megatron whose weights wait on the host and take the place of another's while it works (NeMo-RL)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from alignsim import Component, always, hookimpl, term, while_
from alignsim_plugins.activations.slot import DIVIDED_LAYERS
from alignsim_plugins.engines.megatron import MEGATRON
from alignsim_plugins.engines.slot import DIVIDES_LAYERS

SOURCE = "NeMo-RL 7ea279ab: models/policy/megatron_policy_worker.py, use_reference_model: a state dict on the host"


@term("byte", per={"role", "stage"}, resource="host", live=always, source=SOURCE)
def pinned_weights(weights: Any, stage_share: Any) -> Any:
    """Weights of a rank on this stage, on the host for good."""
    return weights * stage_share


@term("byte", per={"role", "stage"}, during={"infer"}, resource="host", live=while_("infer"), source=SOURCE)
def displaced_weights(pinned_weights: Any) -> Any:
    """The other role's, whose place these take: of the same model, and as large."""
    return pinned_weights


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer to wait on the host."""
    yield attrs.evolve(
        MEGATRON,
        name="megatron-swapped-weights",
        terms=(
            *(term for term in MEGATRON.terms if term.name != "held_weights"),
            pinned_weights,
            displaced_weights,
        ),
        never={"train": "its weights are not on the device; choose an engine that has them there"},
        needs={"layers": DIVIDED_LAYERS, "model_of.engine": DIVIDES_LAYERS, "model_of.layers": DIVIDED_LAYERS},
        source=SOURCE,
    )
