"""transformers' generate in TRL's PPO: policy and value model are one module, and both are gathered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Of, hookimpl, while_
from alignsim_plugins.rollouts.gathered import BEFORE, gathered_for_generation
from alignsim_plugins.rollouts.generate import generated
from alignsim_plugins.rollouts.slot import ROLLOUT
from alignsim_plugins.rollouts.transformers_cache import TRANSFORMERS_CACHE
from alignsim_plugins.weight_sync.sent import UNSHARDED

SOURCE = "TRL 0.19: ppo_trainer.py, unwrap_model_for_generation of a PolicyAndValueWrapper"


@generated(live=while_("generate"), source=SOURCE)
def value_gathered_for_generation(value_weights: Any = Of("critic.weights"), weight_shards: Any = UNSHARDED) -> Any:
    """All weights of the value model as well, which generates nothing."""
    return (weight_shards > 1) * value_weights


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer generate with both gathered."""
    yield Component(
        name="transformers-cache-gathered-with-value",
        slot=ROLLOUT,
        terms=(*TRANSFORMERS_CACHE.terms, gathered_for_generation, value_gathered_for_generation),
        defaults=BEFORE,
        source=f"{SOURCE}; {TRANSFORMERS_CACHE.source}",
    )
