"""Conservative DPO is DPO with another loss: its table, and so its memory, is DPO's."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from alignsim import Algorithm, hookimpl
from alignsim_plugins.algorithms.dpo import DPO, SAME_TABLE

CDPO = attrs.evolve(
    DPO, name="cDPO", source=f"Mitchell 2023, A note on DPO with noisy preferences; {SAME_TABLE}label_smoothing"
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer conservative DPO."""
    yield CDPO
