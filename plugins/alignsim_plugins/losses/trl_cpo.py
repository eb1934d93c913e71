"""Preferences without a reference in TRL: log-softmax row by row, and a cross-entropy of the chosen half."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, hookimpl
from alignsim_plugins.losses.coefficients import coefficients
from alignsim_plugins.losses.slot import PAIRS

COUNTED = "live storages of its operations counted on the meta device, torch 2.13, at 2 pairs"

TRL_CPO = coefficients(
    "trl-cpo",
    kinds={PAIRS},
    forward=(5, 8),
    held=(3, 6),
    backward=(6, 14),
    source="TRL 0.19: orpo_trainer.py and cpo_trainer.py, concatenated_forward: cross_entropy_loss of the chosen rows, "
    f"shifted and contiguous; trainer/utils.py, selective_log_softmax; {COUNTED}",
)
TRL_CPO_GATHER = coefficients(
    "trl-cpo-gather",
    kinds={PAIRS},
    forward=(5, 10),
    held=(3, 6),
    backward=(7, 14),
    source="TRL up to 0.13.0: orpo_trainer.py and cpo_trainer.py, get_batch_logps: gather of a log-softmax of all "
    f"logits; {COUNTED}",
)
TRL_SIMPO = coefficients(
    "trl-simpo",
    kinds={PAIRS},
    forward=(4, 6),
    held=(2, 4),
    backward=(4, 12),
    source="TRL 0.19: cpo_trainer.py with loss_type=simpo and cpo_alpha=0, which leaves the cross-entropy out; "
    f"trainer/utils.py, selective_log_softmax; {COUNTED}",
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer TRL's losses without a reference."""
    yield TRL_CPO
    yield TRL_CPO_GATHER
    yield TRL_SIMPO
