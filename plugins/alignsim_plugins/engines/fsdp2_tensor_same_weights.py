"""A role that runs on another's sharded and tensor-parallel weights: a policy with its adapters switched off."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from alignsim import Component, hookimpl
from alignsim_plugins.engines.fsdp2_same_weights import FSDP2_SAME_WEIGHTS
from alignsim_plugins.engines.tensor_rank import GATHERED, PLAN, TENSOR_RANK, limits_of

FSDP2_TENSOR_SAME_WEIGHTS = attrs.evolve(
    FSDP2_SAME_WEIGHTS,
    name="fsdp2-tensor-same-weights",
    terms=(*TENSOR_RANK, *FSDP2_SAME_WEIGHTS.terms),
    defaults={**FSDP2_SAME_WEIGHTS.defaults, "gathers_logits": GATHERED},
    limits=limits_of(FSDP2_SAME_WEIGHTS),
    source=f"{PLAN}; {FSDP2_SAME_WEIGHTS.source}",
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer to hold no shards of its own, over tensor-parallel layers."""
    yield FSDP2_TENSOR_SAME_WEIGHTS
