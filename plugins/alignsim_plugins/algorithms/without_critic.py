"""Relatives of GRPO, which need no critic either: where they differ is in what a reward is compared with."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from alignsim import Algorithm, hookimpl
from alignsim_plugins.algorithms.grpo import GRPO, GRPO_NO_KL
from alignsim_plugins.losses.slot import VALUES

RLOO = attrs.evolve(
    GRPO,
    name="RLOO",
    source="Ahmadian et al. 2024, section 3: the table is GRPO's; the others of a group are the baseline, and the "
    "divergence from the reference is part of the reward; TRL 1.x: rloo_trainer.py",
)
REINFORCE_PLUS_PLUS = attrs.evolve(
    GRPO,
    name="REINFORCE++",
    phases={**GRPO.phases, "score": {**GRPO.phases["score"], "reward": "infer"}},
    needs={**GRPO.needs, "reward.loss": VALUES},
    scalar_heads=("reward",),
    source="Hu 2025 (REINFORCE++), section 3: GRPO's table and a reward model; advantages are normalised over the "
    "batch; OpenRLHF: --advantage_estimator reinforce",
)
DAPO = attrs.evolve(
    GRPO_NO_KL,
    name="DAPO",
    source="Yu et al. 2025 (DAPO), sections 2.3 and 3: the table is GRPO's without a reference; what it samples anew "
    "is more rollouts; verl: recipe/dapo",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer RLOO, REINFORCE++ and DAPO."""
    yield RLOO
    yield REINFORCE_PLUS_PLUS
    yield DAPO
