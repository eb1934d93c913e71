"""LoRA: a frozen model with two thin matrices beside each of its projections, which alone are trained."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, hookimpl
from alignsim_plugins.adapters.activations import ACTIVATIONS
from alignsim_plugins.adapters.slot import ADAPTER, ADAPTERS
from alignsim_plugins.adapters.targets import DEFAULTS, TARGETS

SOURCE = "Hu et al. 2022 (LoRA), section 4; peft 0.21: tuners/lora"

LORA = Component(
    name="lora",
    slot=ADAPTER,
    terms=(*TARGETS, *ACTIVATIONS),
    defaults=DEFAULTS,
    kinds={ADAPTERS},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer LoRA."""
    yield LORA
