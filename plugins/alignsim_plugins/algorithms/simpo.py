"""SimPO: training alone, of pairs, as CPO is."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from alignsim import Algorithm, hookimpl
from alignsim_plugins.algorithms.cpo import CPO, TRL

SIMPO = attrs.evolve(
    CPO,
    name="SimPO",
    source=f"Meng et al. 2024, eq. 6: the table is CPO's; no negative log-likelihood; {TRL} with loss_type=simpo",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer SimPO."""
    yield SIMPO
