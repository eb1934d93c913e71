"""Megatron's weights handed over: tensor ranks' parts of a parameter are gathered and joined, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, at, hookimpl, maths, term
from alignsim_plugins.weight_sync.sent import GIVES_BACK_TWICE
from alignsim_plugins.weight_sync.slot import WEIGHT_SYNC

SOURCE = (
    "verl b178a3cd: utils/megatron_utils.py, per_tensor_generator: all_gather over tensor and expert ranks, broadcast "
    "over stages, torch.cat; read, not measured"
)
BUCKET = Const("2 GiB", "byte", source="verl: update_weights_bucket_megabytes=2048, full tensors are copied in")


@term("byte", per={"role"}, during={"sync"}, resource="allocated", live=at("sync"), source=SOURCE)
def sync_buffers(
    embedding_matrix: Any,
    hidden: Any,
    expert_ffn: Any,
    weight_bytes: Any,
    tensor: Any,
    pipeline: Any,
    expert: Any,
    sync_bucket: Any = BUCKET,
) -> Any:
    """The largest parameter, in parts and joined; with expert ranks, one expert's gate and up of each; a bucket.

    ``embedding_matrix`` is a rank's part. Of a stage alone a parameter comes whole, and once.
    """
    return sync_bucket + weight_bytes * maths.maximum(
        maths.where(tensor > 1, 2, 1 * (pipeline > 1)) * embedding_matrix * tensor,
        (expert > 1) * 2 * expert * 2 * hidden * expert_ffn,
    )


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer to gather the parts of tensor ranks."""
    yield Component(
        name="tensor-ranks-bucketed",
        slot=WEIGHT_SYNC,
        terms=(sync_buffers,),
        releases=GIVES_BACK_TWICE,
        source=SOURCE,
    )
