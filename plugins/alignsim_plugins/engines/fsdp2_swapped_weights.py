"""A role whose weights wait on the host and take the place of another role's shards while it works (NeMo-RL).

Beside the other role's shards the device holds nothing. The host holds this role's weights for good, and the other's
while the role works.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, term, while_
from alignsim_plugins.engines.fsdp2_same_weights import FSDP2_SAME_WEIGHTS
from alignsim_plugins.engines.host import node_host_memory, pinned_weights
from alignsim_plugins.engines.slot import ENGINE, SHARDED_BY_LAYER

SOURCE = "NeMo-RL 7ea279ab: models/policy/dtensor_policy_worker_v2.py, use_reference_model: pinned state dicts"


@term("byte", per={"role"}, during={"infer"}, resource="host", live=while_("infer"), source=SOURCE)
def displaced_weights(pinned_weights: Any) -> Any:
    """The other role's shards, whose place these take: of the same model, and as large."""
    return pinned_weights


FSDP2_SWAPPED_WEIGHTS = Component(
    name="fsdp2-swapped-weights",
    slot=ENGINE,
    terms=(*FSDP2_SAME_WEIGHTS.terms, pinned_weights, displaced_weights, node_host_memory),
    defaults=FSDP2_SAME_WEIGHTS.defaults,
    limits=FSDP2_SAME_WEIGHTS.limits,
    never={"train": "its weights are not on the device; choose an engine that has them there"},
    needs={"model_of.engine": SHARDED_BY_LAYER},
    source=SOURCE,
    left_out=FSDP2_SAME_WEIGHTS.left_out,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer to wait on the host."""
    yield FSDP2_SWAPPED_WEIGHTS
