"""RLOO: GRPO's table, with another baseline."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from alignsim import Algorithm, hookimpl
from alignsim_plugins.algorithms.grpo import GRPO

RLOO = attrs.evolve(
    GRPO,
    name="RLOO",
    source="Ahmadian et al. 2024, section 3: the table is GRPO's; the others of a group are the baseline, and the "
    "divergence from the reference is part of the reward; TRL 1.x: rloo_trainer.py",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer RLOO."""
    yield RLOO
