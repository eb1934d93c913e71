"""Layouts that Megatron refuses, and models that its layers are not: each a term that is above 0 then."""

from __future__ import annotations

from typing import Any

from alignsim import maths, term

ARGUMENTS = "Megatron-LM d98e8a64: training/arguments.py, validate_args"
CONFIG = "Megatron-LM d98e8a64: core/transformer/transformer_config.py"


@term("", per={"role"}, source=CONFIG, refuses="heads must be a multiple of tensor, since every rank has whole heads")
def heads_left_over(heads: Any) -> Any:
    """Parts of heads."""
    return heads - maths.floor(heads)


@term(
    "",
    per={"model"},
    source=CONFIG,
)
def whole_kv_heads(kv_heads: Any) -> Any:
    """Key and value heads of the model."""
    return kv_heads


@term(
    "",
    per={"role"},
    source=CONFIG,
    refuses="kv_heads must be a multiple of tensor, or tensor of kv_heads: ranks have whole heads, or copies of one",
)
def kv_heads_left_over(whole_kv_heads: Any, tensor: Any) -> Any:
    """Parts of key and value heads, or ranks that would have none."""
    return maths.where(
        tensor > whole_kv_heads,
        tensor - whole_kv_heads * maths.floor(tensor / whole_kv_heads),
        whole_kv_heads - tensor * maths.floor(whole_kv_heads / tensor),
    )


@term("", per={"role"}, source=ARGUMENTS, refuses="ffn must be a multiple of tensor")
def ffn_left_over(ffn: Any) -> Any:
    """Parts of the MLP's width."""
    return ffn - maths.floor(ffn)


@term(
    "",
    per={"role"},
    source=ARGUMENTS,
    refuses="the layers that no stage states must be dealt out evenly to the other stages and their virtual pieces",
)
def layers_left_over(dealt_layers: Any, even_stages: Any, virtual: Any) -> Any:
    """Layers that do not go into stages and pieces; or less than none."""
    return maths.where(
        dealt_layers < 0,
        1,
        dealt_layers - even_stages * virtual * maths.floor(maths.safe_divide(dealt_layers, even_stages * virtual)),
    )


@term(
    "",
    per={"role"},
    source=ARGUMENTS,
    refuses="first_stage_layers and last_stage_layers must be multiples of virtual, the pieces of a stage",
)
def end_layers_left_over(first_stage_layers: Any, last_stage_layers: Any, virtual: Any) -> Any:
    """Layers of the ends that do not go into pieces."""
    return (
        first_stage_layers
        - virtual * maths.floor(first_stage_layers / virtual)
        + last_stage_layers
        - virtual * maths.floor(last_stage_layers / virtual)
    )


@term("", per={"role"}, source=ARGUMENTS, refuses="virtual pieces interleave stages of a pipeline, and pipeline is 1")
def interleaves_nothing(virtual: Any, pipeline: Any) -> Any:
    """Pieces of the only stage."""
    return (virtual > 1) * (pipeline <= 1)


@term(
    "",
    per={"role"},
    source="Megatron-LM d98e8a64: core/pipeline_parallel/schedules.py",
    refuses="an interleaved pipeline needs at least as many micro-batches (accumulation_steps) as stages (pipeline)",
)
def micro_batches_missing(virtual: Any, pipeline: Any, accumulation_steps: Any) -> Any:
    """Micro-batches that an interleaved pipeline lacks."""
    return maths.where(virtual > 1, maths.maximum(pipeline - accumulation_steps, 0), 0)


@term(
    "",
    per={"model"},
    source=CONFIG,
    refuses="Megatron's layer has a norm before attention and one before the MLP, one after the other, as this model "
    "has not",
)
def other_layers(norms: Any, parallel: Any) -> Any:
    """More or fewer norms, or both blocks side by side."""
    return maths.maximum(norms - 2, 2 - norms) + parallel


@term(
    "",
    per={"model"},
    source="the engine counts matrix by matrix",
    refuses="the engine divides a model by its shape, and this one states its parameters without vocab or ffn",
)
def shape_missing(vocab: Any, ffn: Any, experts: Any) -> Any:
    """1 where a width is 0."""
    return 1 * (vocab * (ffn + experts) <= 0)


@term("", per={"role"}, source=ARGUMENTS, refuses="expert ranks share experts, and this model has none: say expert=1")
def experts_missing(expert: Any, experts: Any) -> Any:
    """Ranks for experts that there are not."""
    return (experts <= 0) * (expert - 1)


@term(
    "",
    per={"role"},
    source=CONFIG,
    refuses="experts must be a multiple of expert, the ranks that they are dealt out to",
)
def experts_left_over(rank_experts: Any) -> Any:
    """Parts of experts."""
    return rank_experts - maths.floor(rank_experts)


@term(
    "", per={"role"}, source=ARGUMENTS, refuses="expert_ffn must be a multiple of expert_tensor, shared_ffn of tensor"
)
def expert_width_left_over(expert_ffn: Any, shared_ffn: Any) -> Any:
    """Parts of experts' widths."""
    return expert_ffn - maths.floor(expert_ffn) + shared_ffn - maths.floor(shared_ffn)


@term(
    "",
    per={"role"},
    source="Megatron-LM d98e8a64: core/parallel_state.py",
    refuses="expert x expert_tensor must divide tensor x context x data, the ranks of a stage",
)
def expert_groups_left_over(expert: Any, expert_ranks: Any, tensor: Any, context: Any, data: Any, experts: Any) -> Any:
    """Parts of groups of expert ranks."""
    return (experts > 0) * (
        tensor * context * data / (expert * expert_ranks)
        - maths.floor(tensor * context * data / (expert * expert_ranks))
    )


@term(
    "",
    per={"role"},
    source=ARGUMENTS,
    refuses="experts with tensor ranks need sequence_parallel: each rank sends its own tokens",
)
def tokens_sent_twice(experts: Any, tensor: Any, sequence_parallel: Any) -> Any:
    """1 where tensor ranks would send the same tokens."""
    return (experts > 0) * (tensor > 1) * (1 - sequence_parallel)


@term(
    "",
    per={"role", "stage"},
    source="a limit of this engine",
    refuses="the leading dense layers must all be in the first piece of the first stage; give it more layers",
)
def dense_layers_beyond(has_embedding: Any, dense_layers: Any, stage_layers: Any, virtual: Any, ends: Any) -> Any:
    """Leading dense layers that are on another stage, or in another piece."""
    return (1 - ends) * has_embedding * maths.maximum(dense_layers - stage_layers / virtual, 0)


REFUSALS = (
    experts_missing,
    experts_left_over,
    expert_width_left_over,
    expert_groups_left_over,
    tokens_sent_twice,
    dense_layers_beyond,
    heads_left_over,
    whole_kv_heads,
    kv_heads_left_over,
    ffn_left_over,
    layers_left_over,
    end_layers_left_over,
    interleaves_nothing,
    micro_batches_missing,
    other_layers,
    shape_missing,
)
