"""REINFORCE++: GRPO's table and a reward model."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from alignsim import Algorithm, hookimpl
from alignsim_plugins.algorithms.grpo import GRPO
from alignsim_plugins.losses.slot import VALUES

REINFORCE_PLUS_PLUS = attrs.evolve(
    GRPO,
    name="REINFORCE++",
    phases={**GRPO.phases, "score": {**GRPO.phases["score"], "reward": "infer"}},
    needs={**GRPO.needs, "reward.loss": VALUES},
    scalar_heads=("reward",),
    source="Hu 2025 (REINFORCE++), section 3: GRPO's table and a reward model; advantages are normalised over the "
    "batch; OpenRLHF: --advantage_estimator reinforce",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer REINFORCE++."""
    yield REINFORCE_PLUS_PLUS
