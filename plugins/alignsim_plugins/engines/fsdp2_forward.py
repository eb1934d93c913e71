"""What a forward under fully_shard holds beside the shards: with gradients, and without.

An instant of a layer's forward is one of three: the first layer is gathered right after the root, before anything is
kept; the last one is gathered, copied out of its buffer while the buffer before it is still there; or it computes.
"""

from __future__ import annotations

from typing import Any

from alignsim import Const, after, always, at, maths, resident, span, term
from alignsim_plugins.activations.instants import inferred, trained
from alignsim_plugins.engines.fsdp2_units import SOURCE
from alignsim_plugins.engines.generating import LAYER_BY_LAYER, generated

NEVER_TRAINED = Const(0, "parameter", source="a role that is never trained trains no parameters")
BUFFER = (
    "torch 2.13: FSDPParamGroup.wait_for_unshard frees the buffer at the next copy, FSDPState._post_forward at last"
)


@term("byte", per={"role"}, during={"train"}, source=f"{BUFFER}; FSDPModule.set_modules_to_forward_prefetch")
def gathered_at_work(
    layer_gathered: Any,
    gather_output: Any,
    reshard_after_forward: Any,
    gathers_next: Any,
    layers: Any,
    kept_gathered: Any,
    saved_activations: Any,
) -> Any:
    """While the last layer computes, or the one before it with the next one's buffer, less what it has not yet."""
    return maths.maximum(
        gather_output + reshard_after_forward * layer_gathered,
        gathers_next
        * (layers > 1)
        * (2 * gather_output + reshard_after_forward * layer_gathered - (kept_gathered + saved_activations) / layers),
    )


@trained(live=at("forward_layers"), source=BUFFER)
def gathered_in_forward(
    root_gathered: Any,
    embedding_gathered: Any,
    buffer_before_layers: Any,
    head_gathered: Any,
    last_buffer: Any,
    gathered_at_work: Any,
    kept_gathered: Any,
    layer_gathered: Any,
    gather_output: Any,
    reshard_after_forward: Any,
    weight_shards: Any,
    last_layer_forward: Any,
    forward_working_set: Any,
    saved_activations: Any,
    recomputes_last: Any,
    layers: Any,
    rotary_tables: Any,
    residual_bytes: Any,
    hidden: Any,
    tokens: Any,
) -> Any:
    """The root, and the worst of: final norm, layers computing, a head of its own, last or first layer gathered.

    Each less what it has not yet of the activations that the last layer has.
    """
    return root_gathered + maths.maximum(
        kept_gathered
        + maths.maximum(
            maths.maximum(
                head_gathered + last_buffer,
                (head_gathered > 0) * (head_gathered + last_buffer + gather_output - forward_working_set),
            ),
            gathered_at_work + last_layer_forward - forward_working_set,
        ),
        maths.maximum(
            kept_gathered
            + reshard_after_forward * layer_gathered
            + 2 * gather_output
            - forward_working_set
            - maths.where(recomputes_last > 0, 0, saved_activations / layers),
            maths.maximum(
                (weight_shards > 1) * buffer_before_layers
                + layer_gathered
                + gather_output
                + residual_bytes * hidden * tokens,
                (weight_shards > 1) * (root_gathered + embedding_gathered) + embedding_gathered,
            )
            - forward_working_set
            - saved_activations
            - rotary_tables,
        ),
    )


@trained(live=at("forward_head"), source=BUFFER)
def gathered_at_head(root_gathered: Any, kept_gathered: Any, head_gathered: Any, last_buffer: Any) -> Any:
    """The root, a head of its own, and the last buffer."""
    return root_gathered + kept_gathered + head_gathered + last_buffer


@trained(live=at("loss"), source=BUFFER)
def gathered_at_loss(
    root_gathered: Any,
    root_left: Any,
    kept_gathered: Any,
    head_gathered: Any,
    last_buffer: Any,
    inside_forward: Any,
) -> Any:
    """The buffer goes when the root's forward returns."""
    return kept_gathered + maths.where(inside_forward > 0, root_gathered + head_gathered + last_buffer, root_left)


@trained(live=span("loss", "backward_loss", without=("loss", "backward_loss")), source=SOURCE)
def gathered_before_backward(root_left: Any, kept_gathered: Any) -> Any:
    """The root stays gathered for its backward, unless it is told not to."""
    return root_left + kept_gathered


@term(
    "byte",
    per={"role"},
    during={"infer"},
    resource="allocated",
    live=resident & after("forward_layers"),
    source=f"torch 2.13: FSDPState._lazy_init, the root is not resharded after forward; {SOURCE}",
)
def left_gathered(root_left: Any, kept_gathered: Any, trainable_parameters: Any = NEVER_TRAINED) -> Any:
    """Without a backward nobody shards the root again: a model that is never trained keeps it, from step to step."""
    return maths.where(trainable_parameters > 0, 0, root_left + kept_gathered)


@inferred(live=always, source=SOURCE)
def left_until_backward(root_left: Any, kept_gathered: Any, trainable_parameters: Any = NEVER_TRAINED) -> Any:
    """The root of a model that is trained later, in the phase of its forward without gradients."""
    return maths.where(trainable_parameters > 0, root_left + kept_gathered, 0)


@inferred(live=at("forward_layers"), source=BUFFER)
def gathered_in_inference(
    root_gathered: Any,
    root_once: Any,
    embedding_gathered: Any,
    buffer_before_layers: Any,
    layer_gathered: Any,
    gather_output: Any,
    reshard_after_forward: Any,
    weight_shards: Any,
    gathers_next: Any,
    layers: Any,
    inference_working_set: Any,
    residual_bytes: Any,
    hidden: Any,
    tokens: Any,
) -> Any:
    """The same instants without gradients: a layer computes, is gathered, or is the first to be gathered.

    While it is, there is what the one before it gave, and what the embedding did.
    """
    return root_once + maths.maximum(
        reshard_after_forward * layer_gathered + (1 + gathers_next * (layers > 1)) * gather_output,
        maths.maximum(
            reshard_after_forward * layer_gathered + 2 * gather_output + 2 * residual_bytes * hidden * tokens,
            maths.maximum(
                (weight_shards > 1) * buffer_before_layers
                + layer_gathered
                + gather_output
                + residual_bytes * hidden * tokens,
                (weight_shards > 1) * (root_gathered + embedding_gathered) + embedding_gathered,
            ),
        )
        - inference_working_set,
    )


@inferred(live=at("forward_head"), source=BUFFER)
def gathered_at_inferred_head(root_once: Any, gather_output: Any, last_buffer: Any) -> Any:
    """The last buffer: a layer's where a head of its own is there already."""
    return root_once + maths.maximum(gather_output, last_buffer)


@inferred(live=at("loss"), source=BUFFER)
def gathered_at_inferred_loss(gathered_at_inferred_head: Any, inside_forward: Any) -> Any:
    """The buffer goes when the root's forward returns."""
    return inside_forward * gathered_at_inferred_head


@generated(live=at("prefill", "decode"), source=BUFFER)
def gathered_in_generation(
    root_gathered: Any,
    head_gathered: Any,
    kept_gathered: Any,
    layer_gathered: Any,
    gather_output: Any,
    reshard_after_forward: Any,
    gathered_before: Any = LAYER_BY_LAYER,
) -> Any:
    """Every token gathers every layer: the root, a head of its own, a layer, and two buffers; or all is there."""
    return maths.where(
        gathered_before > 0,
        0,
        root_gathered + head_gathered + kept_gathered + reshard_after_forward * layer_gathered + 2 * gather_output,
    )


FORWARD = (
    gathered_at_work,
    gathered_in_forward,
    gathered_at_head,
    gathered_at_loss,
    gathered_before_backward,
)
INFERENCE = (
    left_gathered,
    left_until_backward,
    gathered_in_inference,
    gathered_at_inferred_head,
    gathered_at_inferred_loss,
    gathered_in_generation,
)
