"""What FullyShardedDataParallel gathers and reduces at a time: a flat parameter of one layer, or the root's.

On one rank alone nothing is divided (torch calls that NO_SHARD): a unit is only cast, and nothing is kept after a
forward.
"""

from __future__ import annotations

from typing import Any

from alignsim import Const, maths, term
from alignsim_plugins.engines.states import NO_ADAPTERS

SOURCE = "torch 2.13: distributed/fsdp/_flat_param.py and _runtime_utils.py; Zhao et al. 2023 (PyTorch FSDP), section 4"
AS_STORED = Const(0, source="a precision that says nothing else: weights are gathered as they are stored")


@term("", per={"role"}, source="torch 2.13: FlatParamHandle.pre_unshard")
def casts_shards(gathered_bytes: Any, weight_bytes: Any) -> Any:
    """1 where a unit is computed with in another format than it is stored in."""
    return (gathered_bytes < weight_bytes) + (gathered_bytes > weight_bytes)


@term("", per={"role"}, source="torch 2.13: FlatParamHandle.needs_unshard; one rank alone only casts")
def makes_units(casts_shards: Any, weight_shards: Any) -> Any:
    """1 where a whole unit is another tensor than what is stored of it."""
    return 1 * (casts_shards + (weight_shards > 1) > 0)


@term("", per={"role"}, source="torch 2.13: FlatParamHandle.reshard; one rank alone frees the cast after every use")
def reshards(reshard_after_forward: Any, weight_shards: Any) -> Any:
    """1 where a layer is freed after its forward."""
    return maths.maximum(reshard_after_forward, weight_shards <= 1)


@term("parameter", per={"role"}, source=SOURCE)
def root_parameters(embedding_parameters: Any, norm_parameters: Any, head_parameters: Any) -> Any:
    """Embedding, last norm and head: in no layer, and so the root's."""
    return embedding_parameters + norm_parameters + head_parameters


@term("byte", per={"role"}, source=SOURCE)
def root_gathered(makes_units: Any, root_parameters: Any, gathered_bytes: Any) -> Any:
    """The root's flat parameter, whole."""
    return makes_units * root_parameters * gathered_bytes


@term("byte", per={"role"}, source="torch 2.13: _post_forward_reshard leaves the root whole; one rank alone does not")
def root_kept(root_gathered: Any, weight_shards: Any) -> Any:
    """The root between forward and backward."""
    return (weight_shards > 1) * root_gathered


@term("byte", per={"role"}, source=SOURCE)
def layer_gathered(
    makes_units: Any, layer_parameters: Any, gathered_bytes: Any, layers: Any, adapter_weights: Any = NO_ADAPTERS
) -> Any:
    """One layer's flat parameter, whole, and its adapters."""
    return makes_units * (layer_parameters * gathered_bytes + adapter_weights / layers)


@term("byte", per={"role"}, source="torch 2.13: FlatParamHandle._use_low_precision_shard, _mp_shard")
def root_cast(casts_shards: Any, weight_shards: Any, root_gathered: Any) -> Any:
    """This rank's share of the root, cast, while the root is gathered from it."""
    return maths.where(weight_shards > 1, casts_shards * root_gathered / weight_shards, 0)


@term("byte", per={"role"}, source="torch 2.13: FlatParamHandle._use_low_precision_shard, _mp_shard")
def layer_cast(casts_shards: Any, weight_shards: Any, layer_gathered: Any) -> Any:
    """The same of a layer."""
    return maths.where(weight_shards > 1, casts_shards * layer_gathered / weight_shards, 0)


@term("byte", per={"role"}, source="torch 2.13: ShardingStrategy.SHARD_GRAD_OP")
def kept_gathered(reshards: Any, layers: Any, layer_gathered: Any) -> Any:
    """All layers, where they stay gathered from their forward to their backward."""
    return (1 - reshards) * layers * layer_gathered


UNITS = (
    casts_shards,
    makes_units,
    reshards,
    root_parameters,
    root_gathered,
    root_kept,
    layer_gathered,
    root_cast,
    layer_cast,
    kept_gathered,
)
