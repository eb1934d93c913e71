"""transformers' generate of a sharded policy: its weights are gathered before, and given back after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, while_
from alignsim_plugins.rollouts.generate import generated
from alignsim_plugins.rollouts.slot import ROLLOUT
from alignsim_plugins.rollouts.transformers_cache import TRANSFORMERS_CACHE
from alignsim_plugins.weight_sync.sent import UNSHARDED

SOURCE = "TRL: models/utils.py, unwrap_model_for_generation(gather_deepspeed3_params=True), FSDP's summon_full_params"


@generated(live=while_("generate"), source=SOURCE)
def gathered_for_generation(parameters: Any, compute_bytes: Any, weight_shards: Any = UNSHARDED) -> Any:
    """All weights in the format of arithmetic, where they are sharded."""
    return (weight_shards > 1) * parameters * compute_bytes


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer generate with gathered weights."""
    yield Component(
        name="transformers-cache-gathered",
        slot=ROLLOUT,
        terms=(*TRANSFORMERS_CACHE.terms, gathered_for_generation),
        source=f"{SOURCE}; {TRANSFORMERS_CACHE.source}",
    )
