"""Gradients under fully_shard, unit by unit: how they are made, reduced and kept, and how much of each there is.

A unit's gradients are copied to be reduced, and kept as a shard. With ``no_sync`` they are added up whole until the
last micro-batch.
"""

from __future__ import annotations

from typing import Any

from alignsim import maths, term
from alignsim_plugins.engines.fsdp2_units import SOURCE

NO_SYNC = "torch 2.13: FSDPParam.to_accumulated_grad_if_needed; set_requires_gradient_sync(False) before the last one"


@term("byte/parameter", per={"role"}, during={"train"}, source=SOURCE)
def made_gradient_bytes(gathered_bytes: Any) -> Any:
    """A gradient has the format of the gathered parameter."""
    return gathered_bytes


@term("byte/parameter", per={"role"}, during={"train"}, source="torch: MixedPrecisionPolicy.reduce_dtype")
def reduction_bytes(made_gradient_bytes: Any, reduce_bytes: Any) -> Any:
    """Of a gradient on its way: as it was made, unless a format is given to reduce in."""
    return maths.where(reduce_bytes > 0, reduce_bytes, made_gradient_bytes)


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trained_of_root(frozen: Any, root_parameters: Any) -> Any:
    """Parameters of the root that get gradients."""
    return maths.where(frozen > 0, 0, root_parameters)


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trained_of_embedding(frozen: Any, wrapped_embedding: Any) -> Any:
    """Parameters of an embedding of its own that get gradients."""
    return maths.where(frozen > 0, 0, wrapped_embedding)


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trained_of_head(frozen: Any, wrapped_head: Any) -> Any:
    """Parameters of a head of its own that get gradients."""
    return maths.where(frozen > 0, 0, wrapped_head)


@term("", per={"role"}, during={"train"}, source=NO_SYNC)
def accumulates_whole(no_sync: Any, accumulation_steps: Any) -> Any:
    """1 where gradients of several micro-batches are added before they are reduced."""
    return no_sync * (accumulation_steps > 1)


@term("", per={"role"}, during={"train"}, source=NO_SYNC)
def gradients_exist(accumulates_whole: Any, reduction_bytes: Any, made_gradient_bytes: Any) -> Any:
    """Whole gradients are added to in place where they need no wider format; else every micro-batch makes new ones."""
    return accumulates_whole * (reduction_bytes <= made_gradient_bytes)


@term("byte", per={"role"}, during={"train"}, source=f"torch 2.13: FSDPParamGroup.post_backward; {SOURCE}")
def reducing_layer(accumulates_whole: Any, reduction_bytes: Any, trained_of_layer: Any) -> Any:
    """One layer's gradients on their way; added up whole before that, they are counted there."""
    return (1 - accumulates_whole) * reduction_bytes * trained_of_layer


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def layer_gradient_shard(
    accumulation_steps: Any, accumulates_whole: Any, gradient_bytes: Any, trained_of_layer: Any, gradient_shards: Any
) -> Any:
    """A new share of one layer's gradients; shards that are accumulated are there from the second micro-batch on."""
    return maths.where(
        (accumulation_steps > 1) * (1 - accumulates_whole) > 0,
        0,
        gradient_bytes * trained_of_layer / gradient_shards,
    )


@term("byte/parameter", per={"role"}, during={"train"}, source="torch 2.13: foreach_reduce, reduce_output")
def reduced_bytes(reduction_bytes: Any, gradient_bytes: Any) -> Any:
    """Of a gradient that is reduced: as it was on its way, and cast where it is kept in another format."""
    return reduction_bytes + gradient_bytes * ((reduction_bytes > gradient_bytes) + (reduction_bytes < gradient_bytes))


@term("", per={"role"}, during={"train"}, source="torch 2.13: FSDPParamGroup._all_reduce_state")
def keeps_reduced(replicas: Any, reduced_bytes: Any, reduction_bytes: Any, accumulation_steps: Any) -> Any:
    """1 if what replicas add up stays beside the shards to the end of backward: it is another tensor than they are."""
    return (replicas > 1) * ((reduced_bytes > reduction_bytes) + (accumulation_steps > 1) > 0)


@term("byte", per={"role"}, during={"train"}, source="torch 2.13: FSDPParamGroup._all_reduce_state")
def reduced_layer(keeps_reduced: Any, reduction_bytes: Any, trained_of_layer: Any, gradient_shards: Any) -> Any:
    """One layer's share of that."""
    return keeps_reduced * reduction_bytes * trained_of_layer / gradient_shards


@term("byte", per={"role"}, during={"train"}, source=f"torch 2.13: FSDPParamGroup.post_backward; {SOURCE}")
def reducing_head(accumulates_whole: Any, reduction_bytes: Any, trained_of_head: Any) -> Any:
    """The gradients of a head of its own on their way, while the last layer computes."""
    return (1 - accumulates_whole) * reduction_bytes * trained_of_head


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def done_head(
    accumulation_steps: Any,
    gradient_bytes: Any,
    trained_of_head: Any,
    gradient_shards: Any,
    keeps_reduced: Any,
    reduction_bytes: Any,
) -> Any:
    """What they leave: a new share, unless there was one before, and what replicas added up."""
    return (
        trained_of_head
        / gradient_shards
        * (maths.where(accumulation_steps > 1, 0, gradient_bytes) + keeps_reduced * reduction_bytes)
    )


@term("byte", per={"role"}, during={"train"}, source="torch 2.13: foreach_reduce frees gradients when they are copied")
def joining_head(
    accumulates_whole: Any,
    made_gradient_bytes: Any,
    reduction_bytes: Any,
    reduced_bytes: Any,
    trained_of_head: Any,
    gradient_shards: Any,
) -> Any:
    """A head's gradients between the last norm's backward and the last layer's: copied, and then reduced, and cast."""
    return (1 - accumulates_whole) * (
        trained_of_head * (reduction_bytes + maths.maximum(made_gradient_bytes, reduced_bytes / gradient_shards))
    )


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def shards_before(accumulation_steps: Any, accumulates_whole: Any, gradients: Any, gradient_shards: Any) -> Any:
    """All shards, from the second micro-batch on, unless gradients are not reduced before the last."""
    return maths.where(accumulation_steps > 1, (1 - accumulates_whole) * gradients / gradient_shards, 0)


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def shards_made(
    accumulation_steps: Any,
    gradient_bytes: Any,
    trainable_parameters: Any,
    trained_of_root: Any,
    trained_of_embedding: Any,
    gradient_shards: Any,
) -> Any:
    """The shards of all layers, where a micro-batch makes them."""
    return maths.where(
        accumulation_steps > 1,
        0,
        gradient_bytes * (trainable_parameters - trained_of_root - trained_of_embedding) / gradient_shards,
    )


GRADIENTS = (
    made_gradient_bytes,
    reduction_bytes,
    trained_of_root,
    trained_of_embedding,
    trained_of_head,
    accumulates_whole,
    gradients_exist,
    reducing_layer,
    layer_gradient_shard,
    reduced_bytes,
    keeps_reduced,
    reduced_layer,
    reducing_head,
    done_head,
    joining_head,
    shards_before,
    shards_made,
)
