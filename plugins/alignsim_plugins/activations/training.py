"""The instants of a training step: what a trained role holds, and from when to when."""

from __future__ import annotations

from typing import Any

from alignsim import at, maths, span
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.elements import FP32


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


@trained(live=at("forward_layers"))
def forward_working_set(
    recomputes_last: Any,
    forward_work: Any,
    forward_end_work: Any,
    attention_backward_work: Any,
    input_norm_saved: Any,
    layer_saved: Any,
    final_norm_saved: Any,
    norm_output_unsaved: Any,
    frozen: Any,
    residual_bytes: Any,
    compute_bytes: Any,
    hidden: Any,
    tokens: Any,
    fp32: Any = FP32,
) -> Any:
    """The last layer's worst instant: recomputed later, its whole working set; else its end, or the final norm."""
    return maths.where(
        recomputes_last > 0,
        forward_work * tokens,
        maths.maximum(
            maths.maximum(
                (
                    forward_end_work
                    + frozen
                    * maths.where(residual_bytes < fp32, 2 * residual_bytes + compute_bytes, residual_bytes)
                    * hidden
                )
                * tokens,
                maths.where(attention_backward_work > 0, (forward_work + input_norm_saved - layer_saved) * tokens, 0),
            ),
            final_norm_saved + norm_output_unsaved + 2 * fp32 * hidden * tokens,
        ),
    )


@trained(live=at("forward_head"))
def final_norm_output(norm_output: Any) -> Any:
    """The head's input before it is cast, or cut to the tokens that the head needs."""
    return norm_output


@trained(live=at("loss"))
def final_norm_output_at_loss(norm_output: Any, inside_forward: Any, fused_head: Any) -> Any:
    """The same, where the loss is computed before the model's forward returns."""
    return maths.where(inside_forward + fused_head > 0, norm_output, 0)


@trained(live=span("backward_head", "backward_last_layer"))
def held_head_gradient(head_gradient: Any) -> Any:
    """The head's gradient is the first there is."""
    return head_gradient


@trained(live=at("backward_last_layer"))
def last_layer_backward(
    recomputes_last: Any,
    layer_backward: Any,
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
        layer_backward,
        maths.maximum(
            layer_backward - layer_saved * tokens,
            final_norm_saved + norm_output_unsaved + (4 + frozen) * fp32 * hidden * tokens,
        ),
    )


@trained(live=at("backward_first_layer"))
def first_layer_backward(layer_backward: Any, layer_backward_again: Any, accumulation_steps: Any) -> Any:
    """The first layer's backward, the last there is."""
    return maths.where(accumulation_steps > 1, layer_backward_again, layer_backward)


@trained(live=at("backward_first_layer"))
def first_checkpoint(recomputes: Any, residual_bytes: Any, hidden: Any, tokens: Any) -> Any:
    """The input of the layer that is being recomputed."""
    return recomputes * residual_bytes * hidden * tokens


@trained(live=at("backward_first_layer"))
def growing_gradients(
    frozen: Any,
    gradient_bytes: Any,
    trainable_parameters: Any,
    layer_parameters: Any,
    layers: Any,
    late_gradients: Any,
    accumulation_steps: Any,
) -> Any:
    """Gradients of all other layers and of the head, on the first micro-batch; the embedding's comes last."""
    return maths.where(
        accumulation_steps > 1,
        0,
        gradient_bytes
        * maths.where(
            frozen > 0,
            trainable_parameters - trainable_parameters / layers,
            trainable_parameters - layer_parameters - late_gradients,
        ),
    )


@trained(live=span("forward_layers", "backward_end"))
def accumulated_gradients(gradients: Any, accumulation_steps: Any) -> Any:
    """All gradients, from the second micro-batch on."""
    return maths.where(accumulation_steps > 1, gradients, 0)


@trained(live=at("backward_end"))
def gradients_at_the_end(
    gradients: Any,
    accumulation_steps: Any,
    frozen: Any,
    gradient_bytes: Any,
    embedding_matrix: Any,
    tied_gradient_copies: Any,
    residual_bytes: Any,
    hidden: Any,
    tokens: Any,
) -> Any:
    """All gradients, the embedding's in as many copies as a tied head needs to add them, and the input's gradient."""
    return maths.where(accumulation_steps > 1, 0, gradients) + maths.where(
        frozen > 0,
        0,
        gradient_bytes * embedding_matrix * (tied_gradient_copies + maths.where(accumulation_steps > 1, 1, 0))
        + residual_bytes * hidden * tokens,
    )


@trained(live=span("backward_end", "optimizer_step", without=("backward_end", "optimizer_step")))
def gradients_before_the_step(gradients: Any) -> Any:
    """All gradients, while others work."""
    return gradients


@trained(live=at("optimizer_step"))
def gradients_at_the_step(trainable_parameters: Any, moment_bytes: Any) -> Any:
    """All gradients, in the format of what is stepped."""
    return trainable_parameters * moment_bytes


@trained(live=at("optimizer_step"))
def optimizer_temporaries(step_memory: Any) -> Any:
    """What the optimizer needs beside gradients and state."""
    return step_memory


TRAINING = (
    held_activations,
    held_rotary_tables,
    held_final_norm,
    forward_working_set,
    final_norm_output,
    final_norm_output_at_loss,
    held_head_gradient,
    last_layer_backward,
    first_layer_backward,
    first_checkpoint,
    growing_gradients,
    accumulated_gradients,
    gradients_at_the_end,
    gradients_before_the_step,
    gradients_at_the_step,
    optimizer_temporaries,
)
