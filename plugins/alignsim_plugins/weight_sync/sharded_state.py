"""FSDP1's state_dict of shards, as verl takes it: every unit is gathered to cut new shards, and the root stays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, at, hookimpl, maths, term
from alignsim_plugins.weight_sync.sent import GIVES_BACK_TWICE, UNSHARDED
from alignsim_plugins.weight_sync.slot import WEIGHT_SYNC

SOURCE = "verl b178a3cd: workers/fsdp_workers.py, rollout_mode: state_dict() of SHARDED_STATE_DICT; read, not measured"
BUCKET = Const("2 GiB", "byte", source="verl: update_weights_bucket_megabytes=2048, full tensors are copied in")


@term("byte", per={"role"}, during={"sync"}, resource="allocated", live=at("sync"), source=SOURCE)
def sync_buffers(
    weights: Any,
    weight_bytes: Any,
    embedding_parameters: Any,
    norm_parameters: Any,
    head_parameters: Any,
    layer_parameters: Any,
    sync_bucket: Any = BUCKET,
    weight_shards: Any = UNSHARDED,
) -> Any:
    """New shards of all, the root whole for as long as it takes, one layer whole, and a bucket to be sent."""
    return sync_bucket + maths.where(
        weight_shards > 1,
        weights / weight_shards
        + weight_bytes * (embedding_parameters + norm_parameters + head_parameters + layer_parameters),
        0,
    )


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer to hand over what a state_dict of shards gives."""
    yield Component(
        name="sharded-state", slot=WEIGHT_SYNC, terms=(sync_buffers,), releases=GIVES_BACK_TWICE, source=SOURCE
    )
