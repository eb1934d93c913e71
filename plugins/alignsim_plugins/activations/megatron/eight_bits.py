"""8-bit training with TransformerEngine: copies of weights, or weights that are stored in 8 bits."""

from __future__ import annotations

from typing import Any

from alignsim import maths, resident, term
from alignsim_plugins.elements import FP8

CACHES = "TransformerEngine 2.11: module/base.py, weight workspaces that are kept from micro-batch to micro-batch"
GATHER = "Megatron-LM d98e8a64: fp8_param_gather"
SIZES = "TransformerEngine: 8-bit products take sides that are multiples of 16"


@term("parameter", per={"role", "stage"}, source=CACHES)
def eight_bit_parameters(
    fp8: Any,
    stage_layers: Any,
    attention_parameters: Any,
    stage_dense_layers: Any,
    stage_expert_layers: Any,
    gated: Any,
    hidden: Any,
    ffn: Any,
    rank_experts: Any,
    expert_ffn: Any,
    shared_experts: Any,
    shared_ffn: Any,
) -> Any:
    """Weights of products in 8 bits: of all layers, but neither routers nor norms, nor embedding and head."""
    return (fp8 > 0) * (
        stage_layers * attention_parameters
        + (2 + gated)
        * hidden
        * (stage_dense_layers * ffn + stage_expert_layers * (rank_experts * expert_ffn + shared_experts * shared_ffn))
    )


@term("byte", per={"role", "stage"}, resource="allocated", live=resident, source=CACHES)
def eight_bit_weights(eight_bit_parameters: Any, fp8_transposes: Any, eight_bits: Any = FP8) -> Any:
    """A copy of every such weight, and one turned round for backward."""
    return eight_bit_parameters * eight_bits * (1 + fp8_transposes)


@term("", per={"role", "stage"}, source=GATHER)
def narrow_share(parameters: Any, eight_bit_parameters: Any, fp8_param_gather: Any) -> Any:
    """What a stage has in 8 bits alone, of a rank's parameters of all stages."""
    return fp8_param_gather * eight_bit_parameters / parameters


@term(
    "byte/token", per={"role"}, during={"train"}, source="TransformerEngine 2.11: attention's output is kept in 16 bits"
)
def attention_output_copy(fp8: Any, query_width: Any, eight_bits: Any = FP8) -> Any:
    """The 8-bit copy of attention's output that the next product keeps, beside what the kernel keeps."""
    return (fp8 > 0) * eight_bits * query_width


@term(
    "", per={"role"}, source=GATHER, refuses="fp8_param_gather stores weights in 8 bits for 8-bit products: say fp8=1"
)
def gathers_in_eight_bits_alone(fp8_param_gather: Any, fp8: Any) -> Any:
    """1 where products are not in 8 bits."""
    return fp8_param_gather * (1 - fp8)


@term(
    "", per={"role"}, source=CACHES, refuses="8-bit products are of 16-bit training; choose precision 'megatron-bf16'"
)
def eight_bits_of_wide_numbers(fp8: Any, compute_bytes: Any, eight_bits: Any = FP8) -> Any:
    """1 where arithmetic is in 32 bits."""
    return (fp8 > 0) * (compute_bytes > 2 * eight_bits)


@term("", per={"role"}, source=SIZES, refuses="8-bit products need hidden and a rank's inner width in multiples of 16")
def sides_left_over(fp8: Any, hidden: Any, ffn: Any, expert_ffn: Any) -> Any:
    """What is left of the sides."""
    return (fp8 > 0) * (
        hidden
        - 16 * maths.floor(hidden / 16)
        + ffn
        - 16 * maths.floor(ffn / 16)
        + expert_ffn
        - 16 * maths.floor(expert_ffn / 16)
    )


EIGHT_BITS = (
    eight_bit_parameters,
    eight_bit_weights,
    narrow_share,
    attention_output_copy,
    gathers_in_eight_bits_alone,
    eight_bits_of_wide_numbers,
    sides_left_over,
)
