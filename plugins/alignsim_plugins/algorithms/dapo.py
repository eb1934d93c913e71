"""DAPO: GRPO's table without a reference."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from alignsim import Algorithm, hookimpl
from alignsim_plugins.algorithms.grpo import GRPO_NO_KL

DAPO = attrs.evolve(
    GRPO_NO_KL,
    name="DAPO",
    source="Yu et al. 2025 (DAPO), sections 2.3 and 3: the table is GRPO's without a reference; what it samples anew "
    "is more rollouts; verl: recipe/dapo",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer DAPO."""
    yield DAPO
