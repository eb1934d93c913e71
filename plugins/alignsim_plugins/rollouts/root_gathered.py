"""transformers' generate of a policy under FSDP1, as TRL has it: its root is there as stored, layers are gathered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, while_
from alignsim_plugins.rollouts.generate import generated
from alignsim_plugins.rollouts.slot import ROLLOUT
from alignsim_plugins.rollouts.transformers_cache import TRANSFORMERS_CACHE
from alignsim_plugins.weight_sync.sent import UNSHARDED

SOURCE = "TRL: grpo_trainer.py, FSDP.summon_full_params(recurse=False); torch: _unshard_param_utils.py, full precision"


@generated(live=while_("generate"), source=SOURCE)
def root_for_generation(
    weight_bytes: Any,
    embedding_parameters: Any,
    norm_parameters: Any,
    head_parameters: Any,
    weight_shards: Any = UNSHARDED,
) -> Any:
    """Embedding, last norm and head as they are stored, beside those that the forward gathers for itself."""
    return (weight_shards > 1) * weight_bytes * (embedding_parameters + norm_parameters + head_parameters)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer generate with a gathered root."""
    yield Component(
        name="transformers-cache-root-gathered",
        slot=ROLLOUT,
        terms=(*TRANSFORMERS_CACHE.terms, root_for_generation),
        source=f"{SOURCE}; {TRANSFORMERS_CACHE.source}",
    )
