"""ZeRO-1: the optimizer's state in shares; weights and gradients whole."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Limit, hookimpl
from alignsim_plugins.engines.slot import WHOLE_WEIGHTS
from alignsim_plugins.engines.zero import stage
from alignsim_plugins.engines.zero_stages import DEEPSPEED, WITHOUT_GATHERS

ZERO_1 = stage(
    "zero-1",
    1,
    {
        **WITHOUT_GATHERS,
        "zero_stage": Limit(1, because="engine 'zero-1' is stage 1; choose 'zero-3', or 'zero' to vary it"),
    },
    f"{DEEPSPEED}, stage 1 (optimizer states)",
    [WHOLE_WEIGHTS],
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer stage 1."""
    yield ZERO_1
