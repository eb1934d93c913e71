"""ZeRO-2: the optimizer's state and gradients in shares; weights whole."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Limit, hookimpl
from alignsim_plugins.engines.slot import WHOLE_WEIGHTS
from alignsim_plugins.engines.zero import stage
from alignsim_plugins.engines.zero_stages import DEEPSPEED, WITHOUT_GATHERS

ZERO_2 = stage(
    "zero-2",
    2,
    {
        **WITHOUT_GATHERS,
        "zero_stage": Limit(2, because="engine 'zero-2' is stage 2; choose 'zero-3', or 'zero' to vary it"),
    },
    f"{DEEPSPEED}, stage 2 (gradients)",
    [WHOLE_WEIGHTS],
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer stage 2."""
    yield ZERO_2
