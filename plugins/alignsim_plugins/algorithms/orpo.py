"""ORPO: training alone, of pairs, as CPO is."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from alignsim import Algorithm, hookimpl
from alignsim_plugins.algorithms.cpo import CPO

ORPO = attrs.evolve(
    CPO,
    name="ORPO",
    source="Hong et al. 2024, eq. 6: the table is CPO's, with a negative log-likelihood of the chosen; TRL: "
    "orpo_trainer.py, concatenated_forward",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer ORPO."""
    yield ORPO
