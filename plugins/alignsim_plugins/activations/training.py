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


@trained(live=at("forward_layers"))
def rotary_tables_in_forward(rotary_tables: Any) -> Any:
    """Every layer reads them."""
    return rotary_tables


@trained(live=span("forward_layers", "backward_first_layer", without=("forward_layers",)))
def held_rotary_tables(rotary_tables: Any, reached_layers: Any) -> Any:
    """Every layer reads them.

    In backward, those that it reaches.
    """
    return (reached_layers > 0) * rotary_tables


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


@term("byte", per={"role"}, during={"train"}, source=TRACES)
def frozen_layer_forward(forward_work: Any, residual_bytes: Any, hidden: Any, tokens: Any) -> Any:
    """A layer of which nothing is kept: its worst instant, its input and the embedding's output."""
    return (forward_work + 2 * residual_bytes * hidden) * tokens


@term("byte", per={"role"}, during={"train"}, source=TRACES)
def final_norm_work(
    residual_bytes: Any,
    frozen_embedding: Any,
    frozen_final_norm: Any,
    head_input_saved: Any,
    hidden: Any,
    tokens: Any,
    fp32: Any = FP32,
) -> Any:
    """As the norm before the head scales: what it has normalised, its input and output, and the embedding's output.

    In 32 bits, input and normalised copy are what is kept anyhow, and so is the embedding's output unless that is
    frozen. A frozen norm keeps no copy. What the head keeps of the output is not there twice.
    """
    return (
        maths.where(residual_bytes < fp32, fp32 + 2 * residual_bytes, frozen_embedding * residual_bytes)
        + residual_bytes * (1 + frozen_final_norm)
    ) * (hidden * tokens) - head_input_saved


@trained(live=at("forward_layers"))
def forward_working_set(
    reached_layers: Any,
    recomputes_last: Any,
    last_layer_forward: Any,
    frozen_layer_forward: Any,
    final_norm_saved: Any,
    final_norm_work: Any,
) -> Any:
    """The last layer's worst instant; where nothing is recomputed, or the final norm's after it."""
    return maths.where(
        recomputes_last * (reached_layers > 0) > 0,
        last_layer_forward,
        maths.maximum(
            maths.where(reached_layers > 0, last_layer_forward, frozen_layer_forward),
            final_norm_saved + final_norm_work,
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


@term("byte", per={"role"}, during={"train"}, source=TRACES)
def backward_of_layer(layer_backward: Any, layer_backward_again: Any, gradients_exist: Any) -> Any:
    """The worst instant of a layer's backward, with the gradients that it makes unless they exist."""
    return maths.where(gradients_exist > 0, layer_backward_again, layer_backward)


@trained(live=at("backward_last_layer"))
def last_layer_backward(
    recomputes_last: Any,
    backward_of_layer: Any,
    layer_saved: Any,
    reached_layers: Any,
    hidden: Any,
    tokens: Any,
    fp32: Any = FP32,
) -> Any:
    """The last layer's backward beside what is kept already; without recomputation, or the final norm's before it.

    That holds its input and five more in 32 bits.
    """
    return maths.where(
        recomputes_last > 0,
        backward_of_layer,
        maths.maximum(
            backward_of_layer - layer_saved * tokens,
            (6 * hidden + 1) * fp32 * tokens,
        ),
    ) * (reached_layers > 0)


@trained(live=at("backward_first_layer"))
def first_layer_backward(
    reached_layers: Any,
    frozen_below: Any,
    backward_of_layer: Any,
    frozen_layer_backward: Any,
    recomputes: Any,
    first_layer_unsaved: Any,
    gradients_exist: Any,
    made_gradient_bytes: Any,
    trained_of_layer: Any,
    residual_bytes: Any,
    hidden: Any,
    tokens: Any,
) -> Any:
    """The first layer's backward, the last there is.

    Where frozen layers are reached under trained ones, it is the first trained one's, or that of the frozen one below.
    """
    return (reached_layers > 0) * (
        maths.maximum(
            backward_of_layer + (frozen_below > 0) * residual_bytes * hidden * tokens,
            (frozen_below > 0)
            * (
                frozen_layer_backward * tokens
                + maths.where(gradients_exist > 0, 0, made_gradient_bytes * trained_of_layer)
            ),
        )
        - (1 - recomputes) * first_layer_unsaved * tokens
        + maths.maximum(frozen_below - 1, 0) * residual_bytes * hidden * tokens
    )


@trained(live=at("backward_first_layer"))
def first_checkpoint(recomputes: Any, reached_layers: Any, residual_bytes: Any, hidden: Any, tokens: Any) -> Any:
    """The input of the layer that is being recomputed."""
    return recomputes * (reached_layers > 0) * residual_bytes * hidden * tokens


@trained(live=at("backward_first_layer"))
def leading_dense_layers(
    dense_layers: Any,
    expert_layers: Any,
    reached_layers: Any,
    layers: Any,
    frozen_below: Any,
    recomputes: Any,
    norms_saved: Any,
    qk_norms_saved: Any,
    attention_kept: Any,
    dense_saved: Any,
    adapter_saved: Any,
    residual_bytes: Any,
    hidden: Any,
    tokens: Any,
    frozen: Any,
    trained_of_layer: Any,
    dense_layer_parameters: Any,
    gradients_exist: Any,
    gradient_bytes: Any,
    gradient_shards: Any,
) -> Any:
    """What dense layers before the first one with experts keep, which is the larger: it comes while they still wait.

    Their gradients are not there yet.
    """
    return (
        (expert_layers > 0)
        * (reached_layers >= layers)
        * (frozen_below <= 0)
        * dense_layers
        * maths.maximum(
            tokens
            * maths.where(
                recomputes > 0,
                residual_bytes * hidden,
                norms_saved + qk_norms_saved + attention_kept + dense_saved + adapter_saved,
            )
            - (1 - gradients_exist)
            * gradient_bytes
            / gradient_shards
            * maths.where(frozen > 0, trained_of_layer, dense_layer_parameters),
            0,
        )
    )


TRAINING = (
    held_activations,
    rotary_tables_in_forward,
    held_rotary_tables,
    held_final_norm,
    last_layer_forward,
    frozen_layer_forward,
    final_norm_work,
    forward_working_set,
    final_norm_output,
    final_norm_output_at_loss,
    backward_of_layer,
    last_layer_backward,
    first_layer_backward,
    first_checkpoint,
    leading_dense_layers,
)
