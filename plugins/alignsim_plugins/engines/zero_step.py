"""The optimizer's step under ZeRO: its share of the gradients is flattened, cast to what is stepped, and stepped.

Stage 3 does so for one group of parameters at a time, none larger than ``sub_group_size`` by more than a parameter.
"""

from __future__ import annotations

from typing import Any

from alignsim import at, maths, term
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.engines.zero_gradients import BF16, STAGE_1_2, STAGE_3

NORM = "get_grad_norm_direct casts one gradient at a time"


@term("parameter", per={"role"}, during={"train"}, source=f"{STAGE_3}: _create_fp16_sub_groups")
def stepped_parameters(zero_stage: Any, trainable_parameters: Any, optimizer_shards: Any, sub_group_size: Any) -> Any:
    """Parameters of a rank that are stepped at a time."""
    return maths.where(
        zero_stage < 3,
        trainable_parameters / optimizer_shards,
        maths.minimum(trainable_parameters / optimizer_shards, sub_group_size),
    )


@term("byte", per={"role"}, during={"train"}, source=f"{STAGE_1_2}; {STAGE_3}: {NORM}")
def norm_temporary(zero_stage: Any, norm_bytes: Any, largest_trained: Any, gradient_shards: Any) -> Any:
    """The largest gradient, or in stage 3 the shard of it, cast for its norm."""
    return norm_bytes * largest_trained / maths.where(zero_stage < 3, 1, gradient_shards)


@term("byte/parameter", per={"role"}, during={"train"}, source=f"{STAGE_1_2}: step; {STAGE_3}: _prepare_fp32_grad")
def cast_bytes(zero_stage: Any, kept_gradient_bytes: Any, made_gradient_bytes: Any, stepped_bytes: Any) -> Any:
    """Of a gradient that is flattened and cast; what stage 2 keeps in a wider format is flat already."""
    return kept_gradient_bytes * maths.where(
        zero_stage < 3, kept_gradient_bytes <= made_gradient_bytes, 1
    ) + stepped_bytes * ((stepped_bytes > kept_gradient_bytes) + (stepped_bytes < kept_gradient_bytes))


@trained(live=at("optimizer_step"), source=f"{STAGE_1_2}: step, averaged_gradients; {BF16}")
def gradients_at_the_step(
    zero_stage: Any,
    adds_up_whole: Any,
    trainable_parameters: Any,
    made_gradient_bytes: Any,
    kept_gradient_bytes: Any,
    cast_bytes: Any,
    stepped_bytes: Any,
    stepped_parameters: Any,
    step_memory: Any,
    optimizer_shards: Any,
    norm_temporary: Any,
    offload_optimizer: Any,
) -> Any:
    """The worst of: the norm; the cast, before what it was made from goes; the optimizer at work."""
    return maths.where(
        adds_up_whole > 0,
        trainable_parameters * made_gradient_bytes
        + maths.maximum(norm_temporary, step_memory * stepped_parameters / trainable_parameters),
        (1 - offload_optimizer)
        * maths.maximum(
            (zero_stage < 3) * trainable_parameters * kept_gradient_bytes / optimizer_shards
            + maths.maximum(norm_temporary, cast_bytes * stepped_parameters),
            stepped_bytes * stepped_parameters + step_memory * stepped_parameters / trainable_parameters,
        ),
    )


STEP = (stepped_parameters, norm_temporary, cast_bytes, gradients_at_the_step)
