"""Recomputation of several layers at a time: one checkpoint a group, and in its backward a whole group in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Limit, at, hookimpl, maths, term
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.recompute.full import INPUTS, WHOLE_MODEL
from alignsim_plugins.recompute.slot import RECOMPUTE

SOURCE = "Chen et al. 2016, section 4; Megatron-LM: recompute_method='uniform', recompute_num_layers"


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def saved_activations(checkpoint_saved: Any, reached_layers: Any, layers_per_group: Any, tokens: Any) -> Any:
    """The input of every group of layers."""
    return checkpoint_saved * maths.ceil(reached_layers / layers_per_group) * tokens


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def layer_beside(layer_saved: Any, tokens: Any, casts_weights: Any, compute_bytes: Any, cast_matrices: Any) -> Any:
    """One more layer of a group: what it keeps, and under autocast narrow copies of its matrices."""
    return layer_saved * tokens + casts_weights * compute_bytes * cast_matrices


@trained(live=at("backward_last_layer"), source=SOURCE)
def rest_of_last_group(layer_beside: Any, layers_per_group: Any, reached_layers: Any) -> Any:
    """The other layers of the last group, when its last layer's backward begins."""
    return maths.maximum(maths.minimum(layers_per_group, reached_layers) - 1, 0) * layer_beside


@trained(live=at("backward_first_layer"), source=SOURCE)
def rest_of_first_group(
    layer_beside: Any,
    layers_per_group: Any,
    reached_layers: Any,
    gradient_bytes: Any,
    trained_of_layer: Any,
    gradients_exist: Any,
    gradient_shards: Any,
) -> Any:
    """The other layers of the first group, less the gradients that come as they go: its begin or its end is worse."""
    return maths.maximum(maths.minimum(layers_per_group, reached_layers) - 1, 0) * maths.maximum(
        layer_beside
        - maths.where(
            gradients_exist > 0,
            0,
            gradient_bytes * trained_of_layer / gradient_shards,
        ),
        0,
    )


GROUPS = Component(
    name="groups",
    slot=RECOMPUTE,
    terms=(saved_activations, layer_beside, rest_of_last_group, rest_of_first_group),
    defaults={
        "layers_per_group": Const(
            2,
            source="a choice: the root of the layers keeps least",
            limit=Limit("layers", "no group has more layers than there are", least=1, whole=True),
        ),
        "recomputes": Const(1, source=SOURCE),
        "recomputes_last": Const(1, source=SOURCE),
        "recomputed_share": Const(1, source=SOURCE),
        "reaches_inputs": Const(1, source=INPUTS),
        "recomputes_core": Const(0, source=SOURCE),
    },
    limits={"trains_parts": WHOLE_MODEL},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer recomputation by groups."""
    yield GROUPS
