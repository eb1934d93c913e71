"""What stage 3 gathers: a window of parameters that runs ahead of the modules at work, and the largest on top.

From the third step on DeepSpeed knows the order of modules and fetches ahead at every module, until
``max_live_parameters`` are gathered; the last that it fetches may go beyond. The window holds most shortly before it
reaches the head, in forward, or the embedding, in backward. Without fetching ahead, what is needed again soon
(``max_reuse_distance``) stays.
"""

from __future__ import annotations

from typing import Any

from alignsim import Const, after, at, maths, resident, span, term
from alignsim.limits import SHARE
from alignsim_plugins.activations.instants import inferred, trained
from alignsim_plugins.engines.generating import LAYER_BY_LAYER, generated
from alignsim_plugins.engines.states import NO_ADAPTERS
from alignsim_plugins.engines.zero_stages import CONFIG, DEEPSPEED

COORDINATOR = f"{DEEPSPEED}/partitioned_param_coordinator.py"
WINDOW = f"{COORDINATOR}: fetch_sub_module, release_sub_module; measured: gathered parameters of steps on a CPU"
NEVER_TRAINED = Const(0, "parameter", source="a role that is never trained trains no parameters")
NOTHING_KEPT = Const(0, source="a role that is not trained keeps no activations")


@term("byte", per={"role"}, source=f"{DEEPSPEED}/partition_parameters.py: all_gather_coalesced")
def gatherable(
    zero_stage: Any,
    weights: Any,
    persistent_parameters: Any,
    weight_bytes: Any,
    weight_shards: Any,
    offload_param: Any,
    adapter_weights: Any = NO_ADAPTERS,
) -> Any:
    """All that can be gathered; a single rank uses its shard as it is, unless that waits on the host."""
    return (
        (zero_stage >= 3)
        * ((weight_shards > 1) + offload_param > 0)
        * (weights + adapter_weights - persistent_parameters * weight_bytes)
    )


@term("parameter", per={"role"}, source=f"{COORDINATOR}: __params_to_release; {CONFIG}.max_reuse_distance")
def reused_parameters(max_reuse_distance: Any, head_parameters: Any, recomputes: Any = NOTHING_KEPT) -> Any:
    """What stays at the turn to backward: it is passed on the way there and back, and once more if recomputed."""
    return maths.where(recomputes > 0, (max_reuse_distance + head_parameters) / 3, max_reuse_distance / 2)


@term("byte", per={"role"}, source=WINDOW)
def gathered_window(
    gatherable: Any,
    prefetch_bucket_size: Any,
    max_live_parameters: Any,
    reused_parameters: Any,
    largest_matrix: Any,
    weight_bytes: Any,
) -> Any:
    """Of parameters that are gathered at a time: as many as are fetched ahead or stay, at least the largest."""
    return maths.minimum(
        gatherable,
        weight_bytes
        * maths.maximum(
            largest_matrix, maths.maximum((prefetch_bucket_size > 0) * max_live_parameters, reused_parameters)
        ),
    )


@term("byte", per={"role"}, source=WINDOW)
def overshot_window(gatherable: Any, gathered_window: Any, largest_matrix: Any, weight_bytes: Any) -> Any:
    """The same with the largest parameter fetched on top of it."""
    return maths.minimum(gatherable, gathered_window + largest_matrix * weight_bytes)


@term("", per={"role"}, source=WINDOW, limit=SHARE)
def window_share(gatherable: Any, gathered_window: Any) -> Any:
    """The share of the model, and so of its layers, that the window spans."""
    return maths.safe_divide(gathered_window, gatherable)


@term("byte", per={"role"}, source=f"{DEEPSPEED}/partition_parameters.py: AllGatherCoalescedHandle.wait")
def gather_buffer(gatherable: Any, prefetch_bucket_size: Any, down_matrix: Any, weight_bytes: Any) -> Any:
    """What was fetched ahead at once, flat, while its parameters are copied out of it."""
    return maths.minimum(
        gatherable, (prefetch_bucket_size > 0) * maths.maximum(prefetch_bucket_size, down_matrix) * weight_bytes
    )


@trained(live=at("forward_layers"), source=WINDOW)
def gathered_in_forward(
    gathered_window: Any, overshot_window: Any, window_share: Any, saved_activations: Any, gather_buffer: Any
) -> Any:
    """The window at the last layer; or with the head ahead of it, less what is not kept by then."""
    return gather_buffer + maths.maximum(gathered_window, overshot_window - window_share * saved_activations)


@trained(live=at("forward_head", "loss", "backward_loss", "backward_head"), source=WINDOW)
def gathered_at_head(gathered_window: Any) -> Any:
    """The head, and the last layers for their backward."""
    return gathered_window


@trained(live=span("loss", "backward_loss", without=("loss", "backward_loss")), source=WINDOW)
def gathered_before_backward(gathered_window: Any) -> Any:
    """The same while others work."""
    return gathered_window


@trained(live=at("backward_last_layer"), source=WINDOW)
def gathered_in_last_layer(
    gathered_window: Any, overshot_window: Any, window_share: Any, saved_activations: Any, gather_buffer: Any
) -> Any:
    """The window at the last layer; or with the embedding ahead of it, less what is not kept any more by then."""
    return gather_buffer + maths.maximum(gathered_window, overshot_window - (1 - window_share) * saved_activations)


@trained(live=at("backward_first_layer"), source=WINDOW)
def gathered_in_first_layer(gatherable: Any, layer_parameters: Any, largest_matrix: Any, weight_bytes: Any) -> Any:
    """The first layer and the embedding, which is fetched ahead."""
    return maths.minimum(gatherable, (layer_parameters + largest_matrix) * weight_bytes)


@trained(live=at("backward_end"), source=WINDOW)
def gathered_at_the_end(gatherable: Any, embedding_parameters: Any, weight_bytes: Any) -> Any:
    """The embedding: no gradient flows on from its input, and so nobody releases it before the step."""
    return maths.minimum(gatherable, embedding_parameters * weight_bytes)


@inferred(live=at("forward_layers"), source=WINDOW)
def gathered_in_inference(overshot_window: Any, gather_buffer: Any) -> Any:
    """The window with the head ahead of it; without gradients no activations are kept."""
    return overshot_window + gather_buffer


@inferred(live=at("forward_head", "loss"), source=WINDOW)
def gathered_at_inferred_head(
    gatherable: Any, head_parameters: Any, tied: Any, embedding_matrix: Any, weight_bytes: Any
) -> Any:
    """The head."""
    return maths.minimum(gatherable, (head_parameters + tied * embedding_matrix) * weight_bytes)


@generated(live=at("prefill", "decode"), source=WINDOW)
def gathered_in_generation(overshot_window: Any, gather_buffer: Any, gathered_before: Any = LAYER_BY_LAYER) -> Any:
    """Every token gathers the model anew, a window at a time, unless all of it is there already."""
    return maths.where(gathered_before > 0, 0, overshot_window + gather_buffer)


@term("byte", per={"role"}, source="Wang et al. 2023 (ZeRO++), section 3.2")
def secondary_shards(weights: Any, zero_stage: Any, zero_hpz_partition_size: Any) -> Any:
    """A second share of the weights, over fewer ranks that are near to each other."""
    return (zero_stage >= 3) * (zero_hpz_partition_size > 1) * weights / zero_hpz_partition_size


@trained(live=span("forward_layers", "optimizer_step"), source=f"{DEEPSPEED}/stage3.py: invalidate_secondary_tensor")
def held_secondary_shards(secondary_shards: Any) -> Any:
    """Made in forward, and gone with the step that changes the weights."""
    return secondary_shards


@term(
    "byte",
    per={"role"},
    during={"infer"},
    resource="allocated",
    live=resident & after("forward_layers"),
    source=f"{DEEPSPEED}/stage3.py: invalidate_secondary_tensor",
)
def left_secondary_shards(secondary_shards: Any, trainable_parameters: Any = NEVER_TRAINED) -> Any:
    """Of a role that is never trained they stay."""
    return maths.where(trainable_parameters > 0, 0, secondary_shards)


UNITS = (gatherable, reused_parameters, gathered_window, overshot_window, window_share, gather_buffer, secondary_shards)
TRAINING = (
    gathered_in_forward,
    gathered_at_head,
    gathered_before_backward,
    gathered_in_last_layer,
    gathered_in_first_layer,
    gathered_at_the_end,
    held_secondary_shards,
)
INFERENCE = (
    gathered_in_inference,
    gathered_at_inferred_head,
    gathered_in_generation,
    left_secondary_shards,
)
