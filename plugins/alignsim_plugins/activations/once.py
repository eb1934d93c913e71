"""What a model keeps once, not a layer: rotary tables, casts of its weights."""

from __future__ import annotations

from typing import Any

from alignsim import maths, term
from alignsim_plugins.elements import TRACES


@term("byte", per={"role"}, source=f"transformers 5.24: LlamaRotaryEmbedding, sine and cosine; {TRACES}")
def rotary_tables(residual_bytes: Any, head_dim: Any, row_tokens: Any, learned_positions: Any) -> Any:
    """Sine and cosine of every position; none where positions are learned."""
    return maths.where(learned_positions > 0, 0, 2 * residual_bytes * head_dim * row_tokens)


@term("", per={"role"}, source="torch.autocast casts what is wider than its own format")
def casts_weights(autocast: Any, weight_bytes: Any, compute_bytes: Any) -> Any:
    """1 where autocast makes narrower copies of the weights."""
    return autocast * (weight_bytes > compute_bytes)


@term(
    "byte",
    per={"role"},
    during={"train"},
    source="torch.autocast keeps the cast of a weight that needs a gradient until it is left",
)
def layer_casts(
    casts_weights: Any,
    frozen: Any,
    reached_layers: Any,
    frozen_below: Any,
    cast_matrices: Any,
    qkv_bias: Any,
    query_width: Any,
    key_width: Any,
    compute_bytes: Any,
) -> Any:
    """Narrow copies of all layers' matrices and biases; those of frozen weights are not kept."""
    return maths.where(
        frozen > 0,
        0,
        casts_weights
        * compute_bytes
        * (reached_layers - frozen_below)
        * (cast_matrices + qkv_bias * (query_width + 2 * key_width)),
    )


@term(
    "byte",
    per={"role"},
    during={"train"},
    source="torch.autocast keeps the cast of a weight that needs a gradient until it is left",
)
def head_cast(casts_weights: Any, frozen_head: Any, head_matrix: Any, compute_bytes: Any) -> Any:
    """A narrow copy of the head, where the loss multiplies by all of it at once."""
    return maths.where(frozen_head > 0, 0, casts_weights * compute_bytes * head_matrix)


@term("byte", per={"role"}, during={"train"}, source=TRACES)
def one_layer_casts(
    casts_weights: Any, cast_matrices: Any, quantised_matrices: Any, down_matrix: Any, compute_bytes: Any
) -> Any:
    """Narrow copies of one layer's matrices, all but the projection down, which is done with first."""
    return casts_weights * compute_bytes * maths.maximum(cast_matrices - quantised_matrices - down_matrix, 0)


@term(
    "byte", per={"role"}, during={"train"}, source="torch.autograd: a product keeps the operand that it multiplied by"
)
def frozen_casts(
    casts_weights: Any,
    frozen: Any,
    recomputed_share: Any,
    reached_layers: Any,
    cast_matrices: Any,
    quantised_matrices: Any,
    compute_bytes: Any,
) -> Any:
    """Narrow copies of frozen matrices: autocast keeps none, but the products do, where they are not recomputed."""
    return maths.where(
        frozen > 0,
        casts_weights * compute_bytes * (1 - recomputed_share) * reached_layers * (cast_matrices - quantised_matrices),
        0,
    )


@term(
    "byte", per={"role"}, during={"train"}, source="torch.autograd: a product keeps the operand that it multiplied by"
)
def frozen_head_cast(casts_weights: Any, frozen_head: Any, head_matrix: Any, compute_bytes: Any) -> Any:
    """The same of the head."""
    return maths.where(frozen_head > 0, casts_weights * compute_bytes * head_matrix, 0)


ONCE = (
    rotary_tables,
    casts_weights,
    layer_casts,
    head_cast,
    one_layer_casts,
    frozen_casts,
    frozen_head_cast,
)
