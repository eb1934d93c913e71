"""PPO without a critic of its own: values come from the policy's backbone."""

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


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer PPO with a shared backbone."""
    yield PPO_SHARED_BACKBONE
