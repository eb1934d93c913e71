"""PPO without a reward model: rewards come from a function or a server."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Algorithm, hookimpl
from alignsim_plugins.algorithms.events import without
from alignsim_plugins.algorithms.ppo import PPO

PPO_REWARD_ELSEWHERE = without(
    PPO,
    "reward",
    name="PPO-Reward-Elsewhere",
    source="PPO's table without a reward model: verl: reward_manager, a function; OpenRLHF: --remote_rm_url, a server",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer PPO with rewards from elsewhere."""
    yield PPO_REWARD_ELSEWHERE
