"""The instants of a training step: what a trained role holds, and from when to when."""

from __future__ import annotations

from typing import Any

from alignsim import at, maths, span, term
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.elements import FP32, TRACES


@trained(live=span("forward_layers", "backward_last_layer"))
def held_activations(saved_activations: Any) -> Any:
    """What the layers keep, from the end of their forward to the start of their backward."""
    return saved_activations


@trained(live=span("forward_layers", "backward_first_layer"))
def held_rotary_tables(rotary_tables: Any) -> Any:
    """Every layer reads them."""
    return rotary_tables


@trained(live=span("forward_head", "backward_head"))
def held_final_norm(final_norm_saved: Any) -> Any:
    """What the norm before the head keeps."""
    return final_norm_saved


@term("byte", per={"role"}, during={"train"}, source=TRACES)
def last_layer_forward(
    recomputes_last: Any,
    forward_work: Any,
    forward_end_work: Any,
    attention_backward_work: Any,
    input_norm_saved: Any,
    layer_saved: Any,
    frozen: Any,
    residual_bytes: Any,
    compute_bytes: Any,
    hidden: Any,
    tokens: Any,
    fp32: Any = FP32,
) -> Any:
    """The last layer's worst instant beside what is kept: its whole working set if recomputed later, else its end."""
    return tokens * maths.where(
        recomputes_last > 0,
        forward_work,
        maths.maximum(
            forward_end_work
            + frozen * maths.where(residual_bytes < fp32, 2 * residual_bytes + compute_bytes, residual_bytes) * hidden,
            maths.where(attention_backward_work > 0, forward_work + input_norm_saved - layer_saved, 0),
        ),
    )


@trained(live=at("forward_layers"))
def forward_working_set(
    recomputes_last: Any,
    last_layer_forward: Any,
    final_norm_saved: Any,
    norm_output_unsaved: Any,
    hidden: Any,
    tokens: Any,
    fp32: Any = FP32,
) -> Any:
    """The last layer's worst instant; without recomputation, or the final norm's after it."""
    return maths.where(
        recomputes_last > 0,
        last_layer_forward,
        maths.maximum(last_layer_forward, final_norm_saved + norm_output_unsaved + 2 * fp32 * hidden * tokens),
    )


@trained(live=at("forward_head"))
def final_norm_output(norm_output: Any) -> Any:
    """The head's input before it is cast, or cut to the tokens that the head needs."""
    return norm_output


@trained(live=at("loss"))
def final_norm_output_at_loss(norm_output: Any, inside_forward: Any, fused_head: Any) -> Any:
    """The same, where the loss is computed before the model's forward returns."""
    return maths.where(inside_forward + fused_head > 0, norm_output, 0)


@term("byte", per={"role"}, during={"train"}, source=TRACES)
def backward_of_layer(layer_backward: Any, layer_backward_again: Any, gradients_exist: Any) -> Any:
    """The worst instant of a layer's backward, with the gradients that it makes unless they exist."""
    return maths.where(gradients_exist > 0, layer_backward_again, layer_backward)


@trained(live=at("backward_last_layer"))
def last_layer_backward(
    recomputes_last: Any,
    backward_of_layer: Any,
    layer_saved: Any,
    final_norm_saved: Any,
    norm_output_unsaved: Any,
    frozen: Any,
    hidden: Any,
    tokens: Any,
    fp32: Any = FP32,
) -> Any:
    """The last layer's backward beside what is kept already; without recomputation, or the final norm's before it."""
    return maths.where(
        recomputes_last > 0,
        backward_of_layer,
        maths.maximum(
            backward_of_layer - layer_saved * tokens,
            final_norm_saved + norm_output_unsaved + (4 + frozen) * fp32 * hidden * tokens,
        ),
    )


@trained(live=at("backward_first_layer"))
def first_layer_backward(backward_of_layer: Any) -> Any:
    """The first layer's backward, the last there is."""
    return backward_of_layer


@trained(live=at("backward_first_layer"))
def first_checkpoint(recomputes: Any, residual_bytes: Any, hidden: Any, tokens: Any) -> Any:
    """The input of the layer that is being recomputed."""
    return recomputes * residual_bytes * hidden * tokens


TRAINING = (
    held_activations,
    held_rotary_tables,
    held_final_norm,
    last_layer_forward,
    forward_working_set,
    final_norm_output,
    final_norm_output_at_loss,
    backward_of_layer,
    last_layer_backward,
    first_layer_backward,
    first_checkpoint,
)
