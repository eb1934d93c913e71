"""What a backward under fully_shard holds beside activations: gathered layers, gradients whole and in shards.

In the backward of a layer the next one is gathered already, and the gradients of the one before are still on their way
(reduce-scattered). What grows and what shrinks from layer to layer does so evenly, so that of all layers the last two
and the first two are enough.
"""

from __future__ import annotations

from typing import Any

from alignsim import at, maths, span, term
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.elements import FP32
from alignsim_plugins.engines.fsdp2_gradients import GRADIENTS, NO_SYNC
from alignsim_plugins.engines.fsdp2_units import SOURCE


@trained(
    live=at("backward_loss"), source="torch 2.13: FSDPParamGroup._backward_prefetch, by the unit that comes before"
)
def gathered_at_backward_loss(
    root_gathered: Any, head_gathered: Any, kept_gathered: Any, gather_output: Any, reshard_after_forward: Any
) -> Any:
    """The root, and the last layer's buffer, gathered ahead; or a head of its own, which does that later."""
    return (
        root_gathered
        + kept_gathered
        + maths.where(head_gathered > 0, head_gathered, reshard_after_forward * gather_output)
    )


@trained(live=at("backward_head"), source=SOURCE)
def gathered_in_backward(
    root_gathered: Any, head_gathered: Any, kept_gathered: Any, gather_output: Any, reshard_after_forward: Any
) -> Any:
    """The root, a head of its own, and the last layer's buffer: it is gathered ahead."""
    return root_gathered + head_gathered + kept_gathered + reshard_after_forward * gather_output


@trained(live=at("backward_head"), source=SOURCE)
def made_head_gradient(head_gradient: Any) -> Any:
    """The head's gradient is the first there is."""
    return head_gradient


@trained(live=span("backward_head", "backward_first_layer", without=("backward_head",)), source=SOURCE)
def held_head_gradient(head_gradient: Any, gradients_exist: Any, wrapped_head: Any) -> Any:
    """It is reduced with the root's others, at the end, unless it is added to one that exists or is a unit's own."""
    return maths.where(gradients_exist + wrapped_head > 0, 0, head_gradient)


@trained(live=at("backward_last_layer"), source=SOURCE)
def gathered_in_last_layer(
    root_gathered: Any,
    head_gathered: Any,
    head_gradient: Any,
    gradients_exist: Any,
    reducing_head: Any,
    done_head: Any,
    joining_head: Any,
    residual_bytes: Any,
    hidden: Any,
    kept_gathered: Any,
    layer_gathered: Any,
    gather_output: Any,
    reshard_after_forward: Any,
    layers: Any,
    reducing_layer: Any,
    layer_gradient_shard: Any,
    reduced_layer: Any,
    saved_activations: Any,
    recomputes_last: Any,
    backward_of_layer: Any,
    layer_saved: Any,
    tokens: Any,
    last_layer_backward: Any,
    fp32: Any = FP32,
) -> Any:
    """The root, and the worst of: final norm, the last layer, and the one before with the last one's gradients.

    With a head of its own, its gradients are reduced between the norm, which holds its input and five more in 32
    bits, and the last layer.
    """
    return root_gathered + maths.maximum(
        kept_gathered
        + reshard_after_forward * gather_output
        + maths.maximum(
            maths.where(
                head_gathered > 0,
                head_gathered
                + maths.where(gradients_exist > 0, 0, head_gradient)
                + (6 * hidden + 1) * fp32 * tokens
                - last_layer_backward,
                0,
            ),
            joining_head + residual_bytes * hidden * tokens - last_layer_backward,
        ),
        backward_of_layer
        - maths.where(recomputes_last > 0, 0, layer_saved * tokens)
        - last_layer_backward
        + maths.maximum(
            kept_gathered
            + reshard_after_forward * (layer_gathered + (layers > 1) * gather_output)
            + reducing_head
            + done_head,
            (layers > 1)
            * (
                kept_gathered * (layers - 1) / layers
                + reshard_after_forward * (layer_gathered + (layers > 2) * gather_output)
                + reducing_layer
                + layer_gradient_shard
                + reduced_layer
                + done_head
                - saved_activations / layers
            ),
        ),
    )


@trained(live=at("backward_first_layer"), source=SOURCE)
def gathered_in_first_layer(
    root_gathered: Any,
    embedding_gathered: Any,
    done_head: Any,
    weight_shards: Any,
    kept_gathered: Any,
    layer_gathered: Any,
    gather_output: Any,
    reshard_after_forward: Any,
    layers: Any,
    accumulates_whole: Any,
    reducing_layer: Any,
    layer_gradient_shard: Any,
    reduced_layer: Any,
    saved_activations: Any,
) -> Any:
    """The root, and the worst of the first two layers, with the shards that have grown until there.

    Where whole gradients were added up, these have shrunk by more, which is left out.
    """
    return (root_gathered + done_head) + maths.maximum(
        kept_gathered / layers
        + reshard_after_forward * layer_gathered
        + (weight_shards > 1) * embedding_gathered
        + (layers > 1) * reducing_layer
        + ((1 - accumulates_whole) * layer_gradient_shard + reduced_layer) * (layers - 1),
        (layers > 1)
        * (
            2 * kept_gathered / layers
            + reshard_after_forward * (layer_gathered + gather_output)
            + (layers > 2) * reducing_layer
            + ((1 - accumulates_whole) * layer_gradient_shard + reduced_layer) * (layers - 2)
            + saved_activations / layers
        ),
    )


@trained(live=span("forward_layers", "backward_end"), source=NO_SYNC)
def accumulated_gradients(
    accumulates_whole: Any, reduction_bytes: Any, trainable_parameters: Any, shards_before: Any
) -> Any:
    """From the second micro-batch on: all shards; or all gradients whole, where they are not reduced before the last.

    Whole, they are so until the last micro-batch's backward is done with each; that they shrink then is left out.
    """
    return shards_before + accumulates_whole * reduction_bytes * trainable_parameters


@term("byte", per={"role"}, during={"train"}, source=f"verl: apply_fsdp2; {SOURCE}")
def embedding_at_the_end(
    wrapped_embedding: Any,
    embedding_gathered: Any,
    root_gathered: Any,
    trained_of_embedding: Any,
    trained_of_root: Any,
    reducing_layer: Any,
    accumulates_whole: Any,
    made_gradient_bytes: Any,
    reduction_bytes: Any,
    reduced_bytes: Any,
    gradient_shards: Any,
    residual_bytes: Any,
    hidden: Any,
    tokens: Any,
) -> Any:
    """An embedding of its own, gathered, with its gradient beside the root's, which come first to be reduced.

    Before that the first layer's gradients are still on their way.
    """
    return (wrapped_embedding > 0) * (
        embedding_gathered
        + made_gradient_bytes * trained_of_embedding
        + maths.where(
            accumulates_whole > 0,
            root_gathered + residual_bytes * hidden * tokens,
            made_gradient_bytes * trained_of_root
            + maths.maximum(
                root_gathered + reducing_layer + residual_bytes * hidden * tokens,
                trained_of_root * (reduction_bytes + reduced_bytes / gradient_shards),
            ),
        )
    )


@trained(live=at("backward_end"), source=f"torch 2.13: foreach_reduce frees gradients when they are copied; {SOURCE}")
def gradients_at_the_end(
    shards_made: Any,
    accumulates_whole: Any,
    trainable_parameters: Any,
    trained_of_root: Any,
    trained_of_embedding: Any,
    embedding_at_the_end: Any,
    gradient_shards: Any,
    made_gradient_bytes: Any,
    reduction_bytes: Any,
    reduced_bytes: Any,
    keeps_reduced: Any,
) -> Any:
    """The shards of all layers, and the root's gradients: copied to be reduced, and then reduced, and cast.

    Or those of an embedding of its own, whichever is larger and comes last.
    """
    return (
        shards_made
        + keeps_reduced * reduction_bytes * trainable_parameters / gradient_shards
        + maths.maximum(
            maths.maximum(trained_of_root, trained_of_embedding)
            * maths.where(
                accumulates_whole > 0,
                made_gradient_bytes,
                reduction_bytes + maths.maximum(made_gradient_bytes, reduced_bytes / gradient_shards),
            ),
            embedding_at_the_end,
        )
    )


BACKWARD = (
    *GRADIENTS,
    gathered_at_backward_loss,
    gathered_in_backward,
    made_head_gradient,
    held_head_gradient,
    gathered_in_last_layer,
    gathered_in_first_layer,
    accumulated_gradients,
    embedding_at_the_end,
    gradients_at_the_end,
)
