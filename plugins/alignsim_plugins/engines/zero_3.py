"""ZeRO-3: weights, gradients and the optimizer's state in shares; weights are gathered where they are needed."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, hookimpl
from alignsim_plugins.engines.zero import stage
from alignsim_plugins.engines.zero_stages import DEEPSPEED, GATHERED

ZERO_3 = stage("zero-3", 3, {}, f"{DEEPSPEED}, stage 3 (weights)", [GATHERED])


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer stage 3."""
    yield ZERO_3
