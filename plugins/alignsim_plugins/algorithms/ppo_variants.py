"""PPO with fewer models: values from the policy's own backbone, or rewards from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Algorithm, hookimpl
from alignsim_plugins.algorithms.events import without
from alignsim_plugins.algorithms.ppo import PPO

PPO_SHARED_BACKBONE = without(
    PPO,
    "critic",
    name="PPO-Shared-Backbone",
    source="Ziegler et al. 2019, section 2.2; LLaMA-Factory: train/ppo, AutoModelForCausalLMWithValueHead: the value "
    "head is one more row of the policy's head, nothing beside a matrix",
)
PPO_REWARD_ELSEWHERE = without(
    PPO,
    "reward",
    name="PPO-Reward-Elsewhere",
    source="PPO's table without a reward model: verl: reward_manager, a function; OpenRLHF: --remote_rm_url, a server",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer PPO with a shared backbone, and with rewards from elsewhere."""
    yield PPO_SHARED_BACKBONE
    yield PPO_REWARD_ELSEWHERE
