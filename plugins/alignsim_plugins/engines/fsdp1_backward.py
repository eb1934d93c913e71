"""What a backward under FullyShardedDataParallel holds beside activations: gathered units, gradients, and their shards.

Each unit's backward ends in two instants: the gradients of its parameters are joined into one flat gradient; the unit
is freed, and the flat gradient is cast, padded and reduce-scattered. What grows and what shrinks from layer to layer
does so evenly, so that of all layers the last one and the first two are enough.
"""

from __future__ import annotations

from typing import Any

from alignsim import after, at, maths, span, term, while_
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.engines.fsdp1_units import SOURCE

REDUCTION = "torch 2.13: _post_backward_hook, _reduce_grad and _get_reduce_scatter_tensors"
PADDING = f"{REDUCTION}; FlatParamHandle pads flat ones of original parameters beforehand"
NO_SYNC = "torch 2.13: FullyShardedDataParallel.no_sync; whole gradients stay in the format that they are made in"


@term("", per={"role"}, during={"train"}, source=NO_SYNC)
def gradients_exist() -> Any:
    """Never where a layer's backward would add to them: it makes parts of a flat gradient, each time anew."""
    return 0


@term("byte/parameter", per={"role"}, during={"train"}, source=REDUCTION)
def reducing_bytes(made_gradient_bytes: Any, reduction_bytes: Any, gradient_bytes: Any, gradient_shards: Any) -> Any:
    """A flat gradient, its cast, this rank's share, and the share's cast.

    Where gradients were added up whole, the flat gradient is the last one that was added: autograd still holds it.
    """
    return (
        made_gradient_bytes
        + reduction_bytes * ((reduction_bytes > made_gradient_bytes) + (reduction_bytes < made_gradient_bytes))
        + maths.where(gradient_shards > 1, reduction_bytes / gradient_shards, 0)
        + gradient_bytes / gradient_shards * ((reduction_bytes > gradient_bytes) + (reduction_bytes < gradient_bytes))
    )


@term("byte", per={"role"}, during={"train"}, source=PADDING)
def reducing_layer(
    trained_of_layer: Any, reducing_bytes: Any, reduction_bytes: Any, gradient_shards: Any, use_orig_params: Any
) -> Any:
    """One layer's gradients on their way, and a padded copy where they are no multiple of the ranks."""
    return trained_of_layer * (
        reducing_bytes
        + (1 - use_orig_params)
        * reduction_bytes
        * (gradient_shards * maths.ceil(trained_of_layer / gradient_shards) > trained_of_layer)
    )


@term("byte", per={"role"}, during={"train"}, source=PADDING)
def reducing_root(
    trained_of_root: Any, reducing_bytes: Any, reduction_bytes: Any, gradient_shards: Any, use_orig_params: Any
) -> Any:
    """The same of the root."""
    return trained_of_root * (
        reducing_bytes
        + (1 - use_orig_params)
        * reduction_bytes
        * (gradient_shards * maths.ceil(trained_of_root / gradient_shards) > trained_of_root)
    )


@term("byte", per={"role"}, during={"train"}, source=REDUCTION)
def done_layer(
    accumulates_whole: Any,
    accumulation_steps: Any,
    gradient_bytes: Any,
    trained_of_layer: Any,
    gradient_shards: Any,
) -> Any:
    """The share that a layer leaves when it is done, unless there was one before."""
    return maths.where(
        (accumulation_steps > 1) * (1 - accumulates_whole) > 0, 0, trained_of_layer * gradient_bytes / gradient_shards
    )


@term("byte", per={"role"}, during={"train"}, source=NO_SYNC)
def spent_layer(accumulates_whole: Any, made_gradient_bytes: Any, trained_of_layer: Any) -> Any:
    """The gradients that a layer gives back for that in the last micro-batch, where they were added up whole."""
    return accumulates_whole * made_gradient_bytes * trained_of_layer


@term("byte", per={"role"}, during={"train"}, source=NO_SYNC)
def spent_anyway(spent_layer: Any, done_layer: Any, accumulation_steps: Any) -> Any:
    """The same in the micro-batch that holds more: those between the first and the last give nothing back."""
    return maths.where(accumulation_steps > 2, maths.minimum(spent_layer, done_layer), spent_layer)


@trained(live=at("backward_loss", "backward_head"), source=SOURCE)
def gathered_in_backward(
    root_gathered: Any, kept_gathered: Any, layer_gathered: Any, reshards: Any, backward_prefetch: Any
) -> Any:
    """The root, and the last layer where it is gathered ahead."""
    return root_gathered + kept_gathered + reshards * backward_prefetch * layer_gathered


@trained(live=span("backward_head", "backward_first_layer"), source=REDUCTION)
def held_head_gradient(head_gradient: Any) -> Any:
    """It waits for the root's other gradients, which come at the end."""
    return head_gradient


@trained(live=at("backward_last_layer"), source=REDUCTION)
def gathered_in_last_layer(
    root_gathered: Any,
    kept_gathered: Any,
    layer_gathered: Any,
    reshards: Any,
    backward_prefetch: Any,
    backward_prefetch_post: Any,
    layers: Any,
    made_gradient_bytes: Any,
    trained_of_layer: Any,
    reducing_layer: Any,
    saved_activations: Any,
    recomputes_last: Any,
    backward_of_layer: Any,
    layer_saved: Any,
    last_layer_backward: Any,
    residual_bytes: Any,
    hidden: Any,
    tokens: Any,
) -> Any:
    """The root, and the worst of: final norm, the last layer computing, its gradients joined, and then reduced."""
    return root_gathered + maths.maximum(
        kept_gathered + reshards * backward_prefetch * layer_gathered,
        maths.maximum(
            backward_of_layer
            - maths.where(recomputes_last > 0, 0, layer_saved * tokens)
            - last_layer_backward
            + kept_gathered
            + reshards * layer_gathered * (1 + backward_prefetch * (layers > 1)),
            residual_bytes * hidden * tokens
            - last_layer_backward
            - saved_activations / layers
            + maths.maximum(
                2 * made_gradient_bytes * trained_of_layer
                + kept_gathered
                + reshards * layer_gathered * (1 + backward_prefetch * (layers > 1)),
                reducing_layer
                + kept_gathered * (layers - 1) / layers
                + reshards * layer_gathered * (layers > 1) * maths.maximum(backward_prefetch, backward_prefetch_post),
            ),
        ),
    )


@trained(live=at("backward_first_layer"), source=REDUCTION)
def gathered_in_first_layer(
    root_gathered: Any,
    kept_gathered: Any,
    layer_gathered: Any,
    reshards: Any,
    backward_prefetch: Any,
    backward_prefetch_post: Any,
    layers: Any,
    made_gradient_bytes: Any,
    trained_of_layer: Any,
    reducing_layer: Any,
    done_layer: Any,
    spent_layer: Any,
    spent_anyway: Any,
    whole_gradients: Any,
    saved_activations: Any,
    backward_of_layer: Any,
    first_checkpoint: Any,
    rotary_tables: Any,
    residual_bytes: Any,
    hidden: Any,
    tokens: Any,
) -> Any:
    """The root, and the worst of the second layer and the first: computing, gradients joined, and reduced.

    With what is left there of gradients that were added up whole.
    """
    return (
        root_gathered
        + whole_gradients
        + maths.maximum(
            maths.maximum(
                (layers > 1)
                * (
                    2 * kept_gathered / layers
                    + reshards * layer_gathered * (1 + backward_prefetch)
                    + (done_layer - spent_anyway) * (layers - 2)
                    + saved_activations / layers
                ),
                kept_gathered / layers + reshards * layer_gathered + (done_layer - spent_anyway) * (layers - 1),
            ),
            residual_bytes * hidden * tokens
            - backward_of_layer
            - first_checkpoint
            + maths.maximum(
                (layers > 1)
                * (
                    saved_activations / layers
                    + maths.maximum(
                        2 * made_gradient_bytes * trained_of_layer
                        + 2 * kept_gathered / layers
                        + reshards * layer_gathered * (1 + backward_prefetch)
                        + (done_layer - spent_anyway) * (layers - 2),
                        reducing_layer
                        + kept_gathered / layers
                        + reshards * layer_gathered * maths.maximum(backward_prefetch, backward_prefetch_post)
                        + (done_layer - spent_layer) * (layers - 2),
                    )
                ),
                maths.maximum(
                    2 * made_gradient_bytes * trained_of_layer
                    + kept_gathered / layers
                    + reshards * layer_gathered
                    + (done_layer - spent_anyway) * (layers - 1),
                    reducing_layer + (done_layer - spent_layer) * (layers - 1),
                )
                - rotary_tables,
            ),
        )
    )


@trained(live=span("forward_layers", "backward_end"), source=REDUCTION)
def accumulated_gradients(accumulation_steps: Any, accumulates_whole: Any, gradients: Any, gradient_shards: Any) -> Any:
    """All shards, from the second micro-batch on, unless gradients are not reduced before the last one."""
    return maths.where(accumulation_steps > 1, (1 - accumulates_whole) * gradients / gradient_shards, 0)


@trained(live=span("forward_layers", "backward_last_layer"), source=NO_SYNC)
def whole_gradients(accumulates_whole: Any, made_gradient_bytes: Any, trainable_parameters: Any) -> Any:
    """All gradients whole, where they are not reduced before the last micro-batch; its backward shrinks them."""
    return accumulates_whole * made_gradient_bytes * trainable_parameters


@trained(live=at("backward_end"), source=REDUCTION)
def gradients_at_the_end(
    root_gathered: Any,
    trained_of_root: Any,
    made_gradient_bytes: Any,
    reducing_root: Any,
    done_layer: Any,
    spent_layer: Any,
    spent_anyway: Any,
    whole_gradients: Any,
    layers: Any,
    residual_bytes: Any,
    hidden: Any,
    tokens: Any,
) -> Any:
    """What the layers left; the root's gradients as the last one is made, joined into one, and then reduced."""
    return whole_gradients + maths.maximum(
        (done_layer - spent_anyway) * layers
        + root_gathered
        + made_gradient_bytes * trained_of_root
        + maths.maximum(made_gradient_bytes * trained_of_root, residual_bytes * hidden * tokens),
        (done_layer - spent_layer) * layers + reducing_root,
    )


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="allocated",
    live=after("optimizer_step") & while_("infer", "generate", "sync", "idle"),
    source="torch 2.13: FlatParamHandle._reset_flat_param_grad_info_if_needed, called before the next forward",
)
def gradients_left(use_orig_params: Any, gradients: Any, gradient_shards: Any) -> Any:
    """With original parameters, zero_grad only drops views: flat gradients stay until the next training forward."""
    return use_orig_params * gradients / gradient_shards


BACKWARD = (
    gradients_exist,
    reducing_bytes,
    reducing_layer,
    reducing_root,
    done_layer,
    spent_layer,
    spent_anyway,
    gathered_in_backward,
    held_head_gradient,
    gathered_in_last_layer,
    gathered_in_first_layer,
    accumulated_gradients,
    whole_gradients,
    gradients_at_the_end,
    gradients_left,
)
