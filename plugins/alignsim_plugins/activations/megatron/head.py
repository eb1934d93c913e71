"""The final norm, and what the head gathers and makes, on the stage that has it."""

from __future__ import annotations

from typing import Any

from alignsim import at, span, term
from alignsim_plugins.activations.instants import inferred_on_stage, trained_on_stage
from alignsim_plugins.activations.megatron.saved import STATISTIC

NORM = "Korthikanti et al. 2022, section 4.3: layer-norm and projection to words on the last stage"
HEAD = "Megatron-LM: tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication"


@term("byte", per={"role"}, during={"train"}, source=NORM)
def final_norm_saved(
    residual_bytes: Any,
    hidden: Any,
    tokens: Any,
    head_input_saved: Any,
    token_shards: Any,
    statistic_bytes: Any = STATISTIC,
) -> Any:
    """The norm before the head: its input, and its output as the head keeps it."""
    return ((residual_bytes * hidden + statistic_bytes) * tokens + head_input_saved) / token_shards


@trained_on_stage(live=span("forward_head", "backward_head"), source=NORM)
def held_final_norm(has_head: Any, final_norm_saved: Any) -> Any:
    """What it keeps."""
    return has_head * final_norm_saved


@trained_on_stage(live=at("forward_head"), source=NORM)
def final_norm_output(has_head: Any, norm_output: Any, token_shards: Any) -> Any:
    """The head's input before it is cut to the tokens that the head needs."""
    return has_head * norm_output / token_shards


@trained_on_stage(live=at("forward_head", "backward_head"), source=HEAD)
def gathered_head_input(has_head: Any, token_shards: Any, compute_bytes: Any, hidden: Any, head_tokens: Any) -> Any:
    """The head's input of all tokens, where a rank has a part of them otherwise."""
    return has_head * (token_shards > 1) * compute_bytes * hidden * head_tokens


@trained_on_stage(live=at("backward_head"), source=HEAD)
def head_weight_gradient(has_head: Any, head_gradient: Any) -> Any:
    """The head's gradient, or what stands for it, until it is in the buffer."""
    return has_head * head_gradient


@inferred_on_stage(live=at("forward_head"), source=HEAD)
def inferred_gathered_input(has_head: Any, token_shards: Any, compute_bytes: Any, hidden: Any, head_tokens: Any) -> Any:
    """The head's input of all tokens, without gradients."""
    return has_head * (token_shards > 1) * compute_bytes * hidden * head_tokens


HEAD_TERMS = (
    final_norm_saved,
    held_final_norm,
    final_norm_output,
    gathered_head_input,
    head_weight_gradient,
    inferred_gathered_input,
)
