"""Casts and masks: what autocast and the model's forward hold from when to when."""

from __future__ import annotations

from typing import Any

from alignsim import at, maths, span, term
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.elements import TRACES


@term("byte", per={"role"}, during={"train"}, source=TRACES)
def casts_in_forward(layer_casts: Any, head_cast: Any, adapter_casts: Any) -> Any:
    """All casts of one forward."""
    return layer_casts + head_cast + adapter_casts


@term("byte", per={"role"}, during={"train"}, source=TRACES)
def head_cast_kept(head_cast: Any, reached_layers: Any, frozen_final_norm: Any) -> Any:
    """The head's, unless nothing below the head is trained."""
    return maths.where((reached_layers > 0) + (frozen_final_norm <= 0) > 0, head_cast, 0)


@term("byte", per={"role"}, during={"train"}, source=TRACES)
def casts_kept(recomputed_share: Any, casts_in_forward: Any, head_cast: Any, head_cast_kept: Any) -> Any:
    """Casts that backward reads: the head's, and those of layers that are not recomputed."""
    return (1 - recomputed_share) * (casts_in_forward - head_cast) + head_cast_kept


@trained(live=span("forward_layers", "loss", without=("loss",)))
def casts_before_loss(casts_in_forward: Any) -> Any:
    """Autocast holds its casts until it is left."""
    return casts_in_forward


@trained(live=at("loss"))
def casts_at_loss(inside_forward: Any, casts_in_forward: Any, casts_kept: Any) -> Any:
    """It is left before the loss, unless the model's own forward computes that."""
    return maths.where(inside_forward > 0, casts_in_forward, casts_kept)


@trained(live=span("loss", "backward_head", without=("loss",)))
def casts_after_loss(casts_kept: Any) -> Any:
    """What backward reads."""
    return casts_kept


@trained(live=span("forward_layers", "backward_last_layer"))
def held_frozen_casts(frozen_casts: Any) -> Any:
    """Backward reads them to get at the gradients of what comes before."""
    return frozen_casts


@trained(live=span("forward_head", "backward_head"))
def held_frozen_head_cast(frozen_head_cast: Any) -> Any:
    """The same."""
    return frozen_head_cast


@trained(live=at("backward_last_layer"))
def casts_in_last_layer(
    casts_kept: Any,
    head_cast_kept: Any,
    recomputes_last: Any,
    one_layer_casts: Any,
    adapter_casts: Any,
    layers: Any,
    reached_layers: Any,
) -> Any:
    """The head's is done with; recomputed, the layer's own are made again."""
    return (
        casts_kept
        - head_cast_kept
        + recomputes_last * (reached_layers > 0) * (one_layer_casts + adapter_casts / layers)
    )


@trained(live=at("backward_first_layer"))
def casts_in_first_layer(one_layer_casts: Any, adapter_casts: Any, layers: Any, reached_layers: Any) -> Any:
    """Only one layer's are left, or made again."""
    return (reached_layers > 0) * (one_layer_casts + adapter_casts / layers)


@trained(live=span("forward_layers", "loss", without=("loss",)))
def mask_before_loss(attention_mask: Any) -> Any:
    """Every layer reads it."""
    return attention_mask


@trained(live=at("loss"))
def mask_at_loss(
    recomputes: Any, reached_layers: Any, attention_mask: Any, inside_forward: Any, forward_mask: Any
) -> Any:
    """Recomputation needs it again; else the model's forward holds the padding's part until it returns."""
    return maths.where(recomputes * (reached_layers > 0) > 0, attention_mask, inside_forward * forward_mask)


@trained(live=span("loss", "backward_first_layer", without=("loss",)))
def mask_after_loss(recomputes: Any, reached_layers: Any, attention_mask: Any) -> Any:
    """Recomputation reads it in every layer."""
    return recomputes * (reached_layers > 0) * attention_mask


CASTS = (
    casts_in_forward,
    head_cast_kept,
    casts_kept,
    casts_before_loss,
    casts_at_loss,
    casts_after_loss,
    held_frozen_casts,
    held_frozen_head_cast,
    casts_in_last_layer,
    casts_in_first_layer,
    mask_before_loss,
    mask_at_loss,
    mask_after_loss,
)
