"""What a layer's backward needs at its worst instants, the gradients that it has made by then included."""

from __future__ import annotations

from typing import Any

from alignsim import Const, maths, term
from alignsim_plugins.elements import BF16, FP32, TRACES

ALIKE = Const(0, "byte/token", source="a kernel that keeps the same in every layer")


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def live_layer(
    layer_saved: Any,
    recomputes: Any,
    residual_bytes: Any,
    compute_bytes: Any,
    hidden: Any,
    attention_beyond_mean: Any = ALIKE,
    fp32: Any = FP32,
) -> Any:
    """All that a layer keeps; recomputed, of the largest kind, and in 32 bits its input is the checkpoint itself."""
    return layer_saved + recomputes * (attention_beyond_mean - (residual_bytes >= fp32) * residual_bytes * hidden)


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def recomputed_layer(
    live_layer: Any,
    recomputes: Any,
    forward_end_work: Any,
    adapter_recomputed: Any,
    residual_bytes: Any,
    hidden: Any,
    half: Any = BF16,
) -> Any:
    """The end of recomputing a layer, before its backward begins, or an instant at an adapter before that."""
    return recomputes * (
        live_layer + maths.maximum(forward_end_work + half * hidden, adapter_recomputed + residual_bytes * hidden)
    )


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def mlp_backward(
    live_layer: Any, residual_bytes: Any, hidden: Any, inner_bytes: Any, mlp_width: Any, adapter_backward: Any
) -> Any:
    """All that is kept, the output's gradient, and two gradients of the inner width; what adapters need beside."""
    return live_layer + residual_bytes * hidden + 2 * inner_bytes * mlp_width + adapter_backward


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def experts_backward(
    experts: Any,
    norms_saved: Any,
    qk_norms_saved: Any,
    attention_kept: Any,
    experts_saved: Any,
    experts_per_token: Any,
    hidden: Any,
    expert_ffn: Any,
    compute_bytes: Any,
) -> Any:
    """After the grouped gate and up: permuted input, its gradient and the projection's, beside norms and attention."""
    return (experts > 0) * (
        norms_saved
        + qk_norms_saved
        + attention_kept
        + experts_saved
        - experts_per_token * compute_bytes * (2 * expert_ffn)
        + compute_bytes * hidden
    )


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def norm_backward(
    input_norm_saved: Any, qk_norms_saved: Any, attention_kept: Any, residual_bytes: Any, hidden: Any, fp32: Any = FP32
) -> Any:
    """The second norm's: its input and five more in 32 bits, and the residual's gradient, beside attention."""
    return input_norm_saved + qk_norms_saved + attention_kept + (6 * fp32 + residual_bytes) * hidden


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def scores_backward(
    attention_backward_work: Any,
    recomputes_core: Any,
    attention_forward_work: Any,
    input_norm_saved: Any,
    qk_norms_saved: Any,
    residual_bytes: Any,
    hidden: Any,
) -> Any:
    """The softmax's, where scores are whole: with what the input norm holds and the residual's gradient."""
    return maths.where(
        attention_backward_work > 0,
        maths.maximum(attention_backward_work, recomputes_core * attention_forward_work)
        + input_norm_saved
        + qk_norms_saved
        + residual_bytes * hidden,
        0,
    )


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def input_norm_backward(residual_bytes: Any, hidden: Any, fp32: Any = FP32) -> Any:
    """The first norm's: nothing else of the layer is left."""
    return (6 * fp32 + residual_bytes) * hidden


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def frozen_layer_backward(
    recomputed_layer: Any, mlp_backward: Any, scores_backward: Any, norm_copies: Any, qk_norm_copies: Any
) -> Any:
    """The worst instant of a layer that is reached but not trained, under layers that are.

    Copies that only the weights of norms need are not there. The input of the projection down is neither, but then
    nothing is freed before the product's two gradients are made.
    """
    return maths.maximum(
        maths.maximum(recomputed_layer, mlp_backward) - norm_copies - qk_norm_copies, scores_backward - qk_norm_copies
    )


@term("byte", per={"role"}, during={"train"}, source=TRACES)
def layer_backward(
    recomputed_layer: Any,
    mlp_backward: Any,
    experts_backward: Any,
    norm_backward: Any,
    scores_backward: Any,
    input_norm_backward: Any,
    down_matrix: Any,
    inner_matrices: Any,
    layer_parameters: Any,
    qkv_parameters: Any,
    hidden: Any,
    tokens: Any,
    frozen: Any,
    made_gradient_bytes: Any,
) -> Any:
    """The worst instant of a layer's backward, each with the gradients that the layer has by then."""
    return maths.maximum(
        maths.maximum(
            maths.maximum(
                recomputed_layer * tokens,
                mlp_backward * tokens + maths.where(frozen > 0, 0, made_gradient_bytes * down_matrix),
            ),
            maths.maximum(
                experts_backward * tokens + maths.where(frozen > 0, 0, made_gradient_bytes * inner_matrices),
                norm_backward * tokens + maths.where(frozen > 0, 0, made_gradient_bytes * inner_matrices),
            ),
        ),
        maths.maximum(
            scores_backward * tokens
            + maths.where(frozen > 0, 0, made_gradient_bytes * (layer_parameters - qkv_parameters - hidden)),
            input_norm_backward * tokens + maths.where(frozen > 0, 0, made_gradient_bytes * layer_parameters),
        ),
    )


@term("byte", per={"role"}, during={"train"}, source=TRACES)
def layer_backward_again(
    recomputed_layer: Any,
    mlp_backward: Any,
    experts_backward: Any,
    norm_backward: Any,
    scores_backward: Any,
    tokens: Any,
) -> Any:
    """The same after the first micro-batch: gradients exist already, and new ones are added one at a time."""
    return tokens * maths.maximum(
        maths.maximum(maths.maximum(recomputed_layer, mlp_backward), maths.maximum(experts_backward, norm_backward)),
        scores_backward,
    )


BACKWARD = (
    live_layer,
    recomputed_layer,
    mlp_backward,
    experts_backward,
    norm_backward,
    scores_backward,
    input_norm_backward,
    frozen_layer_backward,
    layer_backward,
    layer_backward_again,
)
