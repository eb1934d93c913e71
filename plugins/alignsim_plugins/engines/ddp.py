"""DistributedDataParallel: every rank holds everything, and buckets in which gradients are averaged.

The buckets are as large as all gradients and stay for good. With ``gradient_as_bucket_view`` gradients are parts of
them: there is no second copy, but none of them is ever free, not even before the first backward.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, at, hookimpl, maths, resident, span, term
from alignsim.limits import SWITCH
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.engines.gradients import gradients_at_the_end, growing_gradients, made_gradient_bytes
from alignsim_plugins.engines.single_device import ALONE, AS_STORED, model_parallel_devices
from alignsim_plugins.engines.slot import ENGINE, WHOLE_WEIGHTS
from alignsim_plugins.engines.states import (
    COMMUNICATION,
    WHOLE,
    held_inputs,
    held_master_weights,
    held_optimizer_state,
    held_weights,
    optimizer_temporaries,
)

SOURCE = "torch: nn/parallel/distributed.py, DistributedDataParallel; Li et al. 2020 (PyTorch Distributed), section 4.2"


@term("byte", per={"role"}, during={"train"}, resource="allocated", live=resident, source=SOURCE)
def buckets(gradients: Any) -> Any:
    """One place for every gradient, made when the model is wrapped."""
    return gradients


@term("", per={"role"}, during={"train"}, source=SOURCE)
def gradients_exist(gradient_as_bucket_view: Any, accumulation_steps: Any) -> Any:
    """Always in buckets; else from the second micro-batch on."""
    return 1 * (gradient_as_bucket_view + (accumulation_steps > 1) > 0)


@trained(live=at("backward_head"), source=SOURCE)
def made_head_gradient(head_gradient: Any) -> Any:
    """The head's gradient is the first there is."""
    return head_gradient


@trained(live=at("backward_last_layer"), source=SOURCE)
def held_head_gradient(gradients_exist: Any, head_gradient: Any) -> Any:
    """It stays, unless it is added to one that exists."""
    return maths.where(gradients_exist > 0, 0, head_gradient)


@trained(live=span("forward_layers", "backward_end"), source=SOURCE)
def accumulated_gradients(gradient_as_bucket_view: Any, gradients: Any, accumulation_steps: Any) -> Any:
    """All gradients beside the buckets, from the second micro-batch on."""
    return maths.where(gradient_as_bucket_view > 0, 0, maths.where(accumulation_steps > 1, gradients, 0))


@trained(live=span("backward_end", "optimizer_step", without=("backward_end", "optimizer_step")), source=SOURCE)
def gradients_before_the_step(gradient_as_bucket_view: Any, gradients: Any) -> Any:
    """All gradients beside the buckets, while others work."""
    return maths.where(gradient_as_bucket_view > 0, 0, gradients)


@trained(live=at("optimizer_step"), source=SOURCE)
def gradients_at_the_step(
    gradient_as_bucket_view: Any, trainable_parameters: Any, gradient_bytes: Any, moment_bytes: Any
) -> Any:
    """All gradients beside the buckets, in the format of what is stepped; in buckets, only if they are cast to it."""
    return maths.where(
        gradient_as_bucket_view * (moment_bytes <= gradient_bytes) > 0, 0, trainable_parameters * moment_bytes
    )


DDP = Component(
    name="ddp",
    slot=ENGINE,
    terms=(
        model_parallel_devices,
        held_weights,
        held_master_weights,
        held_optimizer_state,
        held_inputs,
        optimizer_temporaries,
        buckets,
        made_gradient_bytes,
        gradients_exist,
        made_head_gradient,
        held_head_gradient,
        growing_gradients,
        accumulated_gradients,
        gradients_at_the_end,
        gradients_before_the_step,
        gradients_at_the_step,
    ),
    defaults={
        **WHOLE,
        "gradient_as_bucket_view": Const(
            0, source="torch: DistributedDataParallel(gradient_as_bucket_view=False)", limit=SWITCH
        ),
    },
    limits={**ALONE, "gathers_cast": AS_STORED},
    kinds={WHOLE_WEIGHTS},
    source=SOURCE,
    left_out=COMMUNICATION,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer replicas of whole models."""
    yield DDP
