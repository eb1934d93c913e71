"""A role on another role's weights with adapters of its own: a reference that is the policy as it started."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from alignsim import Component, Of, hookimpl, resident, term
from alignsim_plugins.engines.same_weights import SAME_WEIGHTS

SOURCE = "AgileRL: use_separate_reference_adapter, a copy of the adapters; peft: add_adapter and set_adapter"


@term("byte", per={"role"}, resource="allocated", live=resident, source=SOURCE)
def held_own_adapters(adapters: Any = Of("policy.adapter_weights")) -> Any:
    """As many adapters as the policy has, beside the policy's."""
    return adapters


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer adapters of its own over weights of another."""
    yield attrs.evolve(
        SAME_WEIGHTS,
        name="same-weights-own-adapters",
        terms=(*SAME_WEIGHTS.terms, held_own_adapters),
        source=SOURCE,
    )
