"""What fully_shard gathers and reduces at a time: one layer, or the root with all that is in no layer."""

from __future__ import annotations

from typing import Any

from alignsim import Const, maths, term
from alignsim.limits import SWITCH
from alignsim_plugins.elements import TRACES
from alignsim_plugins.engines.states import NO_ADAPTERS

SOURCE = f"torch 2.13: _fully_shard/_fsdp_param_group.py, fully_shard on every layer and on the model; {TRACES}"
AS_STORED = Const(0, source="a precision that says nothing else: weights are gathered as they are stored", limit=SWITCH)


@term("device", per={"role"}, source="torch: fully_shard(mesh=...), of two dimensions with replicas")
def weight_shards(data: Any, sequence: Any, replicas: Any) -> Any:
    """Ranks that share the weights, those that share sequences included; with replicas (hybrid sharding), fewer."""
    return data * sequence / replicas


@term("device", per={"role"}, source=SOURCE)
def gradient_shards(weight_shards: Any) -> Any:
    """Gradients are divided as weights are."""
    return weight_shards


@term("device", per={"role"}, source=SOURCE)
def optimizer_shards(weight_shards: Any) -> Any:
    """The optimizer steps the shards."""
    return weight_shards


@term("byte/parameter", per={"role"}, source="torch: MixedPrecisionPolicy.param_dtype")
def gathered_bytes(weight_bytes: Any, compute_bytes: Any, gathers_cast: Any = AS_STORED) -> Any:
    """Of a gathered parameter."""
    return maths.where(gathers_cast > 0, compute_bytes, weight_bytes)


@term("parameter", per={"role"}, source=f"verl: apply_fsdp2, an embedding that is not tied is a unit; {SOURCE}")
def wrapped_embedding(wraps_embedding: Any, tied: Any, embedding_parameters: Any) -> Any:
    """The embedding where it is a unit of its own; a tied one stays with its head."""
    return wraps_embedding * (1 - tied) * embedding_parameters


@term("parameter", per={"role"}, source=f"torchtitan: apply_fsdp, [norm, output] are a unit; {SOURCE}")
def wrapped_head(wraps_head: Any, tied: Any, norm_parameters: Any, head_parameters: Any) -> Any:
    """Last norm and head where they are a unit of their own; a tied head stays with its embedding."""
    return wraps_head * (1 - tied) * (norm_parameters + head_parameters)


@term("parameter", per={"role"}, source=SOURCE)
def root_parameters(
    embedding_parameters: Any, norm_parameters: Any, head_parameters: Any, wrapped_embedding: Any, wrapped_head: Any
) -> Any:
    """Embedding, last norm and head: in no layer, and so the root's, unless they are units of their own."""
    return embedding_parameters + norm_parameters + head_parameters - wrapped_embedding - wrapped_head


@term("byte", per={"role"}, source=SOURCE)
def root_gathered(root_parameters: Any, wrapped_embedding: Any, reshard_after_forward: Any, gathered_bytes: Any) -> Any:
    """The root's parameters, whole; and an embedding that stays gathered as well."""
    return (root_parameters + (1 - reshard_after_forward) * wrapped_embedding) * gathered_bytes


@term("byte", per={"role"}, source=SOURCE)
def embedding_gathered(wrapped_embedding: Any, reshard_after_forward: Any, gathered_bytes: Any) -> Any:
    """The embedding, whole, where it is gathered for its forward and for its backward."""
    return reshard_after_forward * wrapped_embedding * gathered_bytes


@term("byte", per={"role"}, source=SOURCE)
def buffer_before_layers(root_gathered: Any, embedding_gathered: Any) -> Any:
    """What the buffer is for that is still there when the first layer is gathered."""
    return maths.where(embedding_gathered > 0, embedding_gathered, root_gathered)


@term("byte", per={"role"}, source="torchtitan: apply_fsdp, reshard_after_forward=False: backward begins with it")
def head_gathered(wrapped_head: Any, gathered_bytes: Any) -> Any:
    """Last norm and head of their own, whole: they stay from their forward to their backward."""
    return wrapped_head * gathered_bytes


@term("byte", per={"role"}, source=SOURCE)
def last_buffer(head_gathered: Any, gather_output: Any, weight_shards: Any) -> Any:
    """The buffer that is there until the root's forward returns: that of the unit that is gathered last."""
    return maths.where(head_gathered > 0, (weight_shards > 1) * head_gathered, gather_output)


@term("byte", per={"role"}, source="torch: fully_shard(reshard_after_forward=None), a root stays; True shards it again")
def root_left(root_gathered: Any, reshards_root: Any, head_gathered: Any) -> Any:
    """What is left of the root when its forward returns, and a head of its own."""
    return (1 - reshards_root) * root_gathered + head_gathered


@term("byte", per={"role"}, source="torch: fully_shard(reshard_after_forward=True) on the model")
def root_once(root_gathered: Any, reshards_root: Any) -> Any:
    """What of the root is gathered for one forward alone."""
    return reshards_root * root_gathered


@term("byte", per={"role"}, source=SOURCE)
def layer_gathered(layer_parameters: Any, gathered_bytes: Any, layers: Any, adapter_weights: Any = NO_ADAPTERS) -> Any:
    """One layer's parameters, whole, and its adapters'."""
    return layer_parameters * gathered_bytes + adapter_weights / layers


@term("byte", per={"role"}, source="torch 2.13: FSDPParamGroup.wait_for_unshard; a single rank copies without a buffer")
def gather_output(layer_gathered: Any, weight_shards: Any) -> Any:
    """The buffer that a layer is gathered into, before its parameters are copied out of it."""
    return (weight_shards > 1) * layer_gathered


@term("byte", per={"role"}, source="torch 2.13: FSDPParamGroup.reshard")
def kept_gathered(
    reshard_after_forward: Any,
    parameters: Any,
    root_parameters: Any,
    wrapped_embedding: Any,
    wrapped_head: Any,
    gathered_bytes: Any,
    adapter_weights: Any = NO_ADAPTERS,
) -> Any:
    """All layers, where they stay gathered from their forward to their backward."""
    return (1 - reshard_after_forward) * (
        (parameters - root_parameters - wrapped_embedding - wrapped_head) * gathered_bytes + adapter_weights
    )


UNITS = (
    weight_shards,
    gradient_shards,
    optimizer_shards,
    gathered_bytes,
    wrapped_embedding,
    wrapped_head,
    root_parameters,
    root_gathered,
    embedding_gathered,
    buffer_before_layers,
    head_gathered,
    last_buffer,
    root_left,
    root_once,
    layer_gathered,
    gather_output,
    kept_gathered,
)
