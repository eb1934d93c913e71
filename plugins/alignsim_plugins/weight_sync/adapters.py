"""Handing over adapters: layer by layer, as they are; or merged into weights that are gathered for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, at, hookimpl, term
from alignsim_plugins.weight_sync.sent import GIVES_BACK, GIVES_BACK_TWICE, UNSHARDED
from alignsim_plugins.weight_sync.slot import WEIGHT_SYNC

LAYERED = (
    "verl b178a3cd: utils/fsdp_utils.py, layered_summon_lora_params (layered_summon=True): a layer is summoned whole, "
    "its adapters go to the host; the engine has read the model's own weights from files (load_format=safetensors)"
)
MERGED = "TRL: generation/vllm_generation.py gathers all parameters under ZeRO-3, model.merge_adapter()"
DELTA = "peft 0.21: tuners/lora/layer.py, get_delta_weight: B x A, and the same scaled"
NO_ADAPTERS = Const(0, "byte/parameter", source="a role without adapters has nothing to merge")


@term("byte", per={"role"}, during={"sync"}, resource="allocated", live=at("sync"), source=LAYERED, name="sync_buffers")
def one_layer(layer_parameters: Any, weight_bytes: Any, weight_shards: Any = UNSHARDED) -> Any:
    """One layer, whole, as stored."""
    return (weight_shards > 1) * layer_parameters * weight_bytes


@term("byte", per={"role"}, during={"sync"}, resource="allocated", live=at("sync"), source=DELTA, name="sync_buffers")
def merged_model(
    weights: Any, down_matrix: Any, adapter_bytes: Any = NO_ADAPTERS, weight_shards: Any = UNSHARDED
) -> Any:
    """All weights, gathered where they are sharded; and what is added to the largest matrix of a layer, twice."""
    return (weight_shards > 1) * weights + 2 * down_matrix * adapter_bytes


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer both."""
    yield Component(
        name="adapters-by-layer", slot=WEIGHT_SYNC, terms=(one_layer,), releases=GIVES_BACK_TWICE, source=LAYERED
    )
    yield Component(
        name="merged-model", slot=WEIGHT_SYNC, terms=(merged_model,), releases=GIVES_BACK, source=f"{MERGED}; {DELTA}"
    )
