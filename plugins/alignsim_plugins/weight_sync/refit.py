"""NeMo-RL's refit: full tensors are packed into a buffer that takes a share of what is free."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Total, at, hookimpl, maths, term
from alignsim.limits import SHARE
from alignsim_plugins.weight_sync.sent import GIVES_BACK_TWICE, UNSHARDED
from alignsim_plugins.weight_sync.slot import WEIGHT_SYNC

SOURCE = "NeMo-RL 7ea279ab: models/policy, prepare_weights_for_ipc: NRL_REFIT_BUFFER_MEMORY_RATIO of free memory"
RATIO = Const(0.3, source="NeMo-RL: NRL_REFIT_BUFFER_MEMORY_RATIO, 0.3 unless set", limit=SHARE)


@term("byte", per={"role"}, during={"sync"}, resource="allocated", live=at("sync"), fill=True, source=SOURCE)
def sync_buffers(
    usable_memory: Any,
    largest_matrix: Any,
    weight_bytes: Any,
    refit_ratio: Any = RATIO,
    weight_shards: Any = UNSHARDED,
    in_use: Any = Total("device", at="sync"),
) -> Any:
    """A share of what is free; at least the largest parameter, which has to go into it whole."""
    return maths.maximum(refit_ratio * (usable_memory - in_use), (weight_shards > 1) * largest_matrix * weight_bytes)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer NeMo-RL's way."""
    yield Component(name="refit", slot=WEIGHT_SYNC, terms=(sync_buffers,), releases=GIVES_BACK_TWICE, source=SOURCE)
