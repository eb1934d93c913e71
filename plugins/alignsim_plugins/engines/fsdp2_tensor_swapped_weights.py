"""A role whose weights wait on the host and take the place of another's tensor-parallel shards (NeMo-RL)."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from alignsim import Component, hookimpl
from alignsim_plugins.engines.fsdp2_swapped_weights import FSDP2_SWAPPED_WEIGHTS
from alignsim_plugins.engines.tensor_rank import GATHERED, PLAN, TENSOR_RANK, limits_of

FSDP2_TENSOR_SWAPPED_WEIGHTS = attrs.evolve(
    FSDP2_SWAPPED_WEIGHTS,
    name="fsdp2-tensor-swapped-weights",
    terms=(*TENSOR_RANK, *FSDP2_SWAPPED_WEIGHTS.terms),
    defaults={**FSDP2_SWAPPED_WEIGHTS.defaults, "gathers_logits": GATHERED},
    limits=limits_of(FSDP2_SWAPPED_WEIGHTS),
    source=f"{PLAN}; {FSDP2_SWAPPED_WEIGHTS.source}",
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer to wait on the host, over tensor-parallel layers."""
    yield FSDP2_TENSOR_SWAPPED_WEIGHTS
