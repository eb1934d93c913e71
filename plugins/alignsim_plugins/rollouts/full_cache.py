"""Every rollout sequence cached in full, evenly divided over the devices of one copy of the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, term, while_
from alignsim_plugins.elements import FORMAT
from alignsim_plugins.rollouts.kv_cache import kv_cache
from alignsim_plugins.rollouts.slot import ROLLOUT

SOURCE = "the reference case: cache / (tensor x pipeline)"


@term("byte", per={"role"}, during={"generate"}, resource="allocated", live=while_("generate"), source=SOURCE)
def kv_cache_per_device(kv_cache: Any, model_parallel_devices: Any) -> Any:
    """An even share of the cache, as if key and value heads could be divided at will."""
    return kv_cache / model_parallel_devices


FULL_CACHE = Component(
    name="full-cache",
    slot=ROLLOUT,
    terms=(kv_cache, kv_cache_per_device),
    defaults={
        "kv_bytes": Const(2, "byte", source="16-bit keys and values, as the weights that make them", limit=FORMAT)
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer the full cache."""
    yield FULL_CACHE
