"""transformers' generate of a sharded policy: its weights are gathered before, and given back after.

Nothing is gathered while the model runs then: TRL takes DeepSpeed's hooks away for that long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, while_
from alignsim_plugins.rollouts.generate import generated
from alignsim_plugins.rollouts.slot import ROLLOUT
from alignsim_plugins.rollouts.transformers_cache import TRANSFORMERS_CACHE
from alignsim_plugins.weight_sync.sent import UNSHARDED

SOURCE = "TRL: models/utils.py, unwrap_model_for_generation(gather_deepspeed3_params=True), GatheredParameters"
BEFORE = {"gathered_before": Const(1, source=f"{SOURCE} and remove_hooks")}


@generated(live=while_("generate"), source=SOURCE)
def gathered_for_generation(weights: Any, weight_shards: Any = UNSHARDED) -> Any:
    """All weights as they are stored, where they are sharded."""
    return (weight_shards > 1) * weights


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer generate with gathered weights."""
    yield Component(
        name="transformers-cache-gathered",
        slot=ROLLOUT,
        terms=(*TRANSFORMERS_CACHE.terms, gathered_for_generation),
        defaults=BEFORE,
        source=f"{SOURCE}; {TRANSFORMERS_CACHE.source}",
    )
