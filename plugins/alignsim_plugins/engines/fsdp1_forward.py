"""What a forward under FullyShardedDataParallel holds beside the shards: with gradients, and without.

A layer is gathered right before it computes, into the tensor that it computes with, and freed right after. While it is
gathered, the share that is sent is there as well where it is a cast.
"""

from __future__ import annotations

from typing import Any

from alignsim import Const, after, always, at, maths, resident, span, term
from alignsim_plugins.activations.instants import inferred, trained
from alignsim_plugins.engines.fsdp1_units import SOURCE
from alignsim_plugins.engines.generating import LAYER_BY_LAYER, generated

NEVER_TRAINED = Const(0, "parameter", source="a role that is never trained trains no parameters")
ROOT = "torch 2.13: _post_forward_reshard, the root is not freed after a forward"


@trained(live=at("forward_layers"), source=SOURCE)
def gathered_in_forward(
    root_gathered: Any,
    root_cast: Any,
    kept_gathered: Any,
    layer_gathered: Any,
    layer_cast: Any,
    reshards: Any,
    last_layer_forward: Any,
    forward_working_set: Any,
    saved_activations: Any,
    recomputes_last: Any,
    layers: Any,
    rotary_tables: Any,
) -> Any:
    """The root, and the worst of: final norm, last layer computing, last layer gathered, the root itself gathered.

    Each less what it has not yet of the activations that the last layer has.
    """
    return root_gathered + maths.maximum(
        kept_gathered + maths.maximum(0, last_layer_forward - forward_working_set + reshards * layer_gathered),
        maths.maximum(
            kept_gathered
            + reshards * layer_gathered
            + layer_cast
            - forward_working_set
            - maths.where(recomputes_last > 0, 0, saved_activations / layers),
            root_cast - forward_working_set - saved_activations - rotary_tables,
        ),
    )


@trained(live=at("forward_head"), source=SOURCE)
def gathered_at_head(root_gathered: Any, kept_gathered: Any) -> Any:
    """The root."""
    return root_gathered + kept_gathered


@trained(live=at("loss"), source=ROOT)
def gathered_at_loss(root_gathered: Any, root_kept: Any, kept_gathered: Any, inside_forward: Any) -> Any:
    """The root; on one rank alone, only until its forward returns."""
    return kept_gathered + maths.where(inside_forward > 0, root_gathered, root_kept)


@trained(live=span("loss", "backward_loss", without=("loss", "backward_loss")), source=ROOT)
def gathered_before_backward(root_kept: Any, kept_gathered: Any) -> Any:
    """The root stays gathered for its backward."""
    return root_kept + kept_gathered


@term(
    "byte", per={"role"}, during={"infer"}, resource="allocated", live=resident & after("forward_layers"), source=ROOT
)
def left_gathered(
    root_kept: Any, kept_gathered: Any, reshards_root: Any, trainable_parameters: Any = NEVER_TRAINED
) -> Any:
    """Without a backward nobody frees the root: a model that is never trained keeps it, unless it is told to."""
    return maths.where(trainable_parameters > 0, 0, (1 - reshards_root) * (root_kept + kept_gathered))


@inferred(live=always, source=ROOT)
def left_until_backward(
    root_kept: Any, kept_gathered: Any, reshards_root: Any, trainable_parameters: Any = NEVER_TRAINED
) -> Any:
    """The root of a model that is trained later, in the phase of its forward without gradients."""
    return maths.where(trainable_parameters > 0, (1 - reshards_root) * (root_kept + kept_gathered), 0)


@term("byte", per={"role"}, during={"infer"}, source=SOURCE)
def root_in_inference(root_gathered: Any, root_kept: Any, kept_gathered: Any, reshards_root: Any) -> Any:
    """What is gathered for one forward and freed when it returns."""
    return root_gathered - root_kept + reshards_root * (root_kept + kept_gathered)


@inferred(live=at("forward_layers"), source=SOURCE)
def gathered_in_inference(
    root_in_inference: Any,
    root_cast: Any,
    layer_gathered: Any,
    layer_cast: Any,
    reshards: Any,
    inference_working_set: Any,
) -> Any:
    """The same instants without gradients: a layer computes, is gathered, or the root is."""
    return root_in_inference + maths.maximum(
        reshards * layer_gathered,
        maths.maximum(reshards * layer_gathered + layer_cast, root_cast) - inference_working_set,
    )


@inferred(live=at("forward_head"), source=SOURCE)
def gathered_at_inferred_head(root_in_inference: Any) -> Any:
    """The root, unless it stays."""
    return root_in_inference


@inferred(live=at("loss"), source=SOURCE)
def gathered_at_inferred_loss(root_in_inference: Any, inside_forward: Any) -> Any:
    """The same, until the root's forward returns."""
    return inside_forward * root_in_inference


@generated(live=at("prefill", "decode"), source=SOURCE)
def gathered_in_generation(
    root_gathered: Any,
    kept_gathered: Any,
    layer_gathered: Any,
    layer_cast: Any,
    reshards: Any,
    gathered_before: Any = LAYER_BY_LAYER,
) -> Any:
    """Every token gathers every layer: the root, a layer, and the share that it is gathered from; or all is there."""
    return maths.where(gathered_before > 0, 0, root_gathered + kept_gathered + reshards * layer_gathered + layer_cast)


FORWARD = (
    gathered_in_forward,
    gathered_at_head,
    gathered_at_loss,
    gathered_before_backward,
)
INFERENCE = (
    left_gathered,
    left_until_backward,
    root_in_inference,
    gathered_in_inference,
    gathered_at_inferred_head,
    gathered_at_inferred_loss,
    gathered_in_generation,
)
