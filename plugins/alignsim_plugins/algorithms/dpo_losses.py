"""Algorithms that are DPO with another loss: their tables, and so their memory, are DPO's."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from alignsim import Algorithm, hookimpl
from alignsim_plugins.algorithms.dpo import DPO

TRL = "the table is DPO's, since only a function of the four log-probabilities differs; TRL: dpo_trainer.py, "

IPO = attrs.evolve(DPO, name="IPO", source=f"Azar et al. 2023, eq. 17; {TRL}loss_type=ipo")
CDPO = attrs.evolve(
    DPO, name="cDPO", source=f"Mitchell 2023, A note on DPO with noisy preferences; {TRL}label_smoothing"
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer IPO and conservative DPO."""
    yield IPO
    yield CDPO
