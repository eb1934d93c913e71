"""A role that runs on another role's weights: a reference that is the policy with its adapters switched off."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, hookimpl
from alignsim_plugins.adapters.slot import ADAPTERS
from alignsim_plugins.engines.gradients import MADE
from alignsim_plugins.engines.single_device import model_parallel_devices
from alignsim_plugins.engines.slot import ENGINE, WHOLE_WEIGHTS
from alignsim_plugins.engines.states import WHOLE

SAME_WEIGHTS = Component(
    name="same-weights",
    slot=ENGINE,
    terms=(model_parallel_devices, *MADE),
    defaults={"gradient_shards": WHOLE["gradient_shards"]},
    never={"train": "it holds no weights of its own; choose an engine that does"},
    needs={"model_of.adapter": ADAPTERS, "model_of.engine": WHOLE_WEIGHTS},
    source="peft: disable_adapter(); TRL: no reference model is made where the policy has adapters",
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer to hold no weights of its own."""
    yield SAME_WEIGHTS
