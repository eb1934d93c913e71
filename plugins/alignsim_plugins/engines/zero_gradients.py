"""Gradients under ZeRO: whole in stage 1, through a bucket to the rank that keeps them in stage 2, into shards in 3.

Stage 1 reduces after the last micro-batch's backward; stages 2 and 3 whenever a bucket is full, so that of a layer's
gradients there is one at a time beside the bucket. With a wider format to add up in, stage 1 keeps all gradients
in it for good (DeepSpeed's BF16_Optimizer), and stages 2 and 3 their shares.
"""

from __future__ import annotations

from typing import Any

from alignsim import at, maths, resident, span, term
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.engines.gradients import gradients_at_the_end, growing_gradients, made_gradient_bytes
from alignsim_plugins.engines.zero_stages import CONFIG, DEEPSPEED

STAGE_1_2 = f"{DEEPSPEED}/stage_1_and_2.py"
STAGE_3 = f"{DEEPSPEED}/stage3.py"
BF16 = "DeepSpeed 0.19.8: deepspeed/runtime/bf16_optimizer.py"


@term("byte/parameter", per={"role"}, during={"train"}, source="DeepSpeed 0.19.8: data_types.grad_accum_dtype")
def kept_gradient_bytes(gradient_accumulation_bytes: Any, made_gradient_bytes: Any) -> Any:
    """Of a gradient that is added up and kept: as it was made, unless a format is given."""
    return maths.where(gradient_accumulation_bytes > 0, gradient_accumulation_bytes, made_gradient_bytes)


@term("", per={"role"}, during={"train"}, source="DeepSpeed 0.19.8: engine.py, _do_optimizer_sanity_check")
def adds_up_whole(zero_stage: Any, kept_gradient_bytes: Any, made_gradient_bytes: Any, offload_optimizer: Any) -> Any:
    """1 where stage 1 adds up whole gradients in a wider format."""
    return (zero_stage < 2) * (kept_gradient_bytes > made_gradient_bytes) * (1 - offload_optimizer)


@term("", per={"role"}, during={"train"}, source=f"{STAGE_1_2}: process_gradients; {STAGE_3}")
def gradients_exist(zero_stage: Any, overlap_comm: Any, accumulation_steps: Any, adds_up_whole: Any) -> Any:
    """Gradients go to a bucket as soon as they are made; in stage 1 they stay, and exist from the second time on."""
    return maths.where(accumulation_steps > 1, 1, maths.where(zero_stage >= 2, 1, overlap_comm * (1 - adds_up_whole)))


@term("byte", per={"role"}, during={"train"}, source=f"{CONFIG}.reduce_bucket_size; {STAGE_1_2}: setup_buckets")
def reduce_bucket(
    reduce_bucket_size: Any,
    contiguous_gradients: Any,
    overlap_comm: Any,
    zero_stage: Any,
    adds_up_whole: Any,
    made_gradient_bytes: Any,
) -> Any:
    """The buffer that gradients are copied to, of full size however small the model; two with ``overlap_comm``."""
    return (
        contiguous_gradients
        * (1 - adds_up_whole)
        * (1 + overlap_comm * (zero_stage < 3))
        * reduce_bucket_size
        * made_gradient_bytes
    )


@term("byte", per={"role"}, during={"train"}, resource="allocated", live=resident, source=f"{STAGE_3}: ipg_buckets")
def standing_bucket(zero_stage: Any, reduce_bucket: Any) -> Any:
    """In stage 3 it is there for good."""
    return (zero_stage >= 3) * reduce_bucket


@trained(live=at("backward_head"), source=f"{STAGE_1_2}: setup_buckets, before the first gradient is moved")
def bucket_at_head(zero_stage: Any, frozen: Any, reduce_bucket: Any) -> Any:
    """In stages 1 and 2 it is made for the first gradient, which is the head's where the head is trained."""
    return (zero_stage < 3) * (1 - frozen) * reduce_bucket


@trained(
    live=at("backward_last_layer", "backward_first_layer", "backward_end"),
    source=f"{STAGE_1_2}: independent_gradient_partition_epilogue releases it",
)
def bucket_in_backward(zero_stage: Any, reduce_bucket: Any) -> Any:
    """From there to the end of backward."""
    return (zero_stage < 3) * reduce_bucket


@trained(live=span("forward_layers", "backward_loss"), source=f"{STAGE_1_2}: setup_buckets; no epilogue in between")
def bucket_between(zero_stage: Any, accumulation_steps: Any, reduce_bucket: Any) -> Any:
    """In stage 1 it stays from the first micro-batch to the last, which is the one that is reduced."""
    return (zero_stage < 2) * (accumulation_steps > 1) * reduce_bucket


@term("byte", per={"role"}, during={"train"}, source=f"{CONFIG}.reduce_bucket_size")
def bucket_content(reduce_bucket_size: Any, trainable_parameters: Any, made_gradient_bytes: Any) -> Any:
    """Gradients in a full bucket, or all there are."""
    return maths.minimum(reduce_bucket_size, trainable_parameters) * made_gradient_bytes


@term(
    "byte",
    per={"role"},
    during={"train"},
    source=f"{STAGE_1_2}: allreduce_bucket, _add_to_grad_partition_buffer; "
    "runtime/comm/coalesced_collectives.py: reduce_scatter_coalesced",
)
def flattened_bucket(
    zero_stage: Any,
    data: Any,
    bucket_content: Any,
    reduce_bucket_size: Any,
    largest_trained: Any,
    kept_gradient_bytes: Any,
    made_gradient_bytes: Any,
) -> Any:
    """The content once more, ordered by ranks, while it is reduced; in stage 2 one of its gradients is widened then."""
    return (data > 1) * (
        bucket_content
        + (zero_stage < 3)
        * (kept_gradient_bytes > made_gradient_bytes)
        * kept_gradient_bytes
        * maths.minimum(reduce_bucket_size, largest_trained)
    )


@trained(live=at("backward_last_layer", "backward_first_layer", "backward_end"), source=f"{STAGE_1_2}; {STAGE_3}")
def reduced_in_backward(zero_stage: Any, flattened_bucket: Any) -> Any:
    """Stages 2 and 3 reduce while layers are at work; in stage 1 the content has left its own place by then."""
    return (zero_stage >= 2) * flattened_bucket


@trained(live=at("backward_end"), source="DeepSpeed 0.19.8: engine.py, allreduce_bucket casts to the format of bf16")
def reduced_whole(adds_up_whole: Any, data: Any, trainable_parameters: Any, made_gradient_bytes: Any) -> Any:
    """What is added up whole is narrowed for the way, all of it at once."""
    return adds_up_whole * (data > 1) * trainable_parameters * made_gradient_bytes


@trained(live=at("backward_head"), source=STAGE_1_2)
def made_head_gradient(head_gradient: Any) -> Any:
    """The head's gradient is the first there is."""
    return head_gradient


@trained(live=at("backward_last_layer"), source=STAGE_1_2)
def held_head_gradient(gradients_exist: Any, head_gradient: Any) -> Any:
    """It stays, unless it was moved to a bucket or added to one that exists."""
    return maths.where(gradients_exist > 0, 0, head_gradient)


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="allocated",
    live=resident,
    source=f"{STAGE_3}: grad_partitions_flat_buffer; {BF16}: fp32_groups_gradients_flat",
)
def standing_gradients(
    zero_stage: Any,
    adds_up_whole: Any,
    trainable_parameters: Any,
    kept_gradient_bytes: Any,
    gradient_shards: Any,
    offload_optimizer: Any,
) -> Any:
    """Shares of all gradients in stage 3, and whole ones where stage 1 adds them up wider: there for good."""
    return (
        ((zero_stage >= 3) * (1 - offload_optimizer) + adds_up_whole)
        * trainable_parameters
        * kept_gradient_bytes
        / gradient_shards
    )


@trained(live=span("forward_layers", "backward_end"), source=STAGE_1_2)
def accumulated_gradients(
    zero_stage: Any,
    accumulation_steps: Any,
    trainable_parameters: Any,
    made_gradient_bytes: Any,
    kept_gradient_bytes: Any,
    gradient_shards: Any,
    offload_optimizer: Any,
) -> Any:
    """From the second micro-batch on: in stage 1 all, as they were made; in stage 2 this rank's share."""
    return (
        (accumulation_steps > 1)
        * trainable_parameters
        * maths.where(
            zero_stage < 2,
            made_gradient_bytes,
            (zero_stage < 3) * (1 - offload_optimizer) * kept_gradient_bytes / gradient_shards,
        )
    )


@term("byte", per={"role"}, during={"train"}, source=f"{STAGE_1_2}: copy_grads_in_partition, grads_in_partition")
def new_share(
    zero_stage: Any,
    adds_up_whole: Any,
    trainable_parameters: Any,
    made_gradient_bytes: Any,
    kept_gradient_bytes: Any,
    optimizer_shards: Any,
    offload_optimizer: Any,
    accumulation_steps: Any,
) -> Any:
    """This rank's share of a micro-batch's gradients; in a wider format they are added to the share that exists."""
    return (
        (zero_stage < 3)
        * (1 - adds_up_whole)
        * (1 - offload_optimizer)
        * trainable_parameters
        / optimizer_shards
        * maths.where(
            kept_gradient_bytes > made_gradient_bytes,
            (accumulation_steps <= 1) * kept_gradient_bytes,
            made_gradient_bytes,
        )
    )


@trained(live=at("backward_last_layer", "backward_first_layer"), source=STAGE_1_2)
def share_in_backward(zero_stage: Any, new_share: Any) -> Any:
    """In stage 2 the last rank, which keeps the last layers, has it from the start of backward on."""
    return (zero_stage >= 2) * new_share


@trained(live=at("backward_end"), source=f"{STAGE_1_2}: reduce_gradients")
def share_at_the_end(zero_stage: Any, new_share: Any, bucket_content: Any) -> Any:
    """In stage 1 it is made when a first bucket was filled, whose gradients have left their own places."""
    return maths.where(zero_stage < 2, maths.maximum(new_share - bucket_content, 0), new_share)


@trained(
    live=span("backward_end", "optimizer_step", without=("backward_end", "optimizer_step")),
    source=f"{STAGE_1_2}: averaged_gradients; {BF16}: clear_lp_grads sets to 0 and keeps",
)
def gradients_before_the_step(
    zero_stage: Any,
    adds_up_whole: Any,
    trainable_parameters: Any,
    made_gradient_bytes: Any,
    kept_gradient_bytes: Any,
    optimizer_shards: Any,
    offload_optimizer: Any,
) -> Any:
    """This rank's share, while others work; whole ones are left as they were made where they are added up wider."""
    return trainable_parameters * maths.where(
        adds_up_whole > 0,
        made_gradient_bytes,
        (zero_stage < 3) * (1 - offload_optimizer) * kept_gradient_bytes / optimizer_shards,
    )


GRADIENTS = (
    made_gradient_bytes,
    kept_gradient_bytes,
    adds_up_whole,
    gradients_exist,
    reduce_bucket,
    standing_bucket,
    bucket_at_head,
    bucket_in_backward,
    bucket_between,
    bucket_content,
    flattened_bucket,
    reduced_in_backward,
    reduced_whole,
    made_head_gradient,
    held_head_gradient,
    standing_gradients,
    growing_gradients,
    accumulated_gradients,
    gradients_at_the_end,
    new_share,
    share_in_backward,
    share_at_the_end,
    gradients_before_the_step,
)
