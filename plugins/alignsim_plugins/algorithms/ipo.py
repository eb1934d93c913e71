"""IPO is DPO with another loss: its table, and so its memory, is DPO's."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from alignsim import Algorithm, hookimpl
from alignsim_plugins.algorithms.dpo import DPO, SAME_TABLE

IPO = attrs.evolve(DPO, name="IPO", source=f"Azar et al. 2023, eq. 17; {SAME_TABLE}loss_type=ipo")


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer IPO."""
    yield IPO
