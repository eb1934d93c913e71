"""KTO as TRL computes it: log-softmax row by row, and copies of the logits of good and of bad answers for the logs.

The copies are held while the reference runs forward, and dropped before backward.
"""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, hookimpl
from alignsim_plugins.losses.coefficients import coefficients
from alignsim_plugins.losses.slot import ANSWERS

COUNTED = "live storages of its operations counted on the meta device, torch 2.13, at 4 rows"

TRL_KTO = coefficients(
    "trl-kto",
    kinds={ANSWERS},
    forward=(6, 8),
    held=(4, 8),
    backward=(4, 12),
    source="TRL 0.19: kto_trainer.py, forward: completion_logits[chosen_idx, ...] and [rejected_idx, ...]; "
    f"trainer/utils.py, selective_log_softmax; {COUNTED}",
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer TRL's loss of KTO."""
    yield TRL_KTO
