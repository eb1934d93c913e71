"""The instants of a training step on each kind of rank: what waits for backward, and what is being worked on."""

from __future__ import annotations

from typing import Any

from alignsim import after, at, maths, resident, span, term
from alignsim_plugins.activations.instants import trained_on_stage
from alignsim_plugins.elements import BOOL

SCHEDULE = "Narayanan et al. 2021, section 2.2; Megatron-LM: core/pipeline_parallel/schedules.py"
BLOCK = "Megatron-LM d98e8a64: core/transformer/transformer_block.py, recompute_method block"
LAYERS = "Korthikanti et al. 2022, section 4.2.3"
DUMMY = "TransformerEngine 2.3: module/base.py, get_dummy_wgrad; Megatron-LM: tensor_parallel/layers.py"


@term("byte", per={"role"}, during={"train"}, source=LAYERS)
def layer_held(saved_activations: Any, layers: Any) -> Any:
    """What a layer holds between its forward and its backward, be it all or its input."""
    return saved_activations / layers


@term("byte", per={"role"}, during={"train"}, source=LAYERS)
def dense_layer_held(
    layer_held: Any, recomputed_share: Any, layer_saved: Any, dense_layer_saved: Any, tokens: Any
) -> Any:
    """The same of a dense layer, in a model with experts; a checkpoint is the same in both."""
    return layer_held - (1 - recomputed_share) * (layer_saved - dense_layer_saved) * tokens


@term("layer", per={"role", "stage"}, during={"train"}, source=BLOCK)
def block_layers(recomputed_layers_a_piece: Any, stage_layers: Any, virtual: Any) -> Any:
    """The first layers of a piece, which are recomputed one by one."""
    return maths.minimum(recomputed_layers_a_piece, stage_layers / virtual)


@term("layer", per={"role", "stage"}, during={"train"}, source=BLOCK)
def dense_held_in_flight(dense_in_flight: Any, stage_dense_layers: Any, recomputed_layers_a_piece: Any) -> Any:
    """Dense layers of a model with experts that hold less; those that are recomputed hold as little as others."""
    return dense_in_flight * maths.safe_divide(
        maths.maximum(stage_dense_layers - recomputed_layers_a_piece, 0), stage_dense_layers
    )


@term("byte", per={"role"}, during={"train"}, source=BLOCK)
def block_less(layer_held: Any, checkpoint_saved: Any, tokens: Any) -> Any:
    """What a layer that is recomputed holds less than one that is not."""
    return maths.maximum(layer_held - checkpoint_saved * tokens, 0)


@trained_on_stage(live=span("forward_layers", "backward_last_layer"), source=SCHEDULE)
def held_activations(
    layer_held: Any,
    layers_at_loss: Any,
    dense_layer_held: Any,
    dense_held_in_flight: Any,
    block_less: Any,
    block_layers: Any,
    pieces_in_flight: Any,
) -> Any:
    """Of all micro-batches in flight."""
    return (
        layer_held * (layers_at_loss - dense_held_in_flight)
        + dense_layer_held * dense_held_in_flight
        - block_less * block_layers * pieces_in_flight
    )


@trained_on_stage(live=at("forward_layers", "backward_last_layer"), source=SCHEDULE)
def held_beside_loss(layer_held: Any, layers_in_flight: Any, layers_at_loss: Any) -> Any:
    """One layer of a piece more, where it waits instead of the piece with the loss."""
    return layer_held * (layers_in_flight - layers_at_loss)


@term("layer", per={"role", "stage"}, during={"train"}, source=SCHEDULE)
def dense_of_others(
    dense_held_in_flight: Any, experts: Any, stage_dense_layers: Any, recomputed_layers_a_piece: Any
) -> Any:
    """Of those dense layers, the ones of other micro-batches."""
    return maths.maximum(
        dense_held_in_flight - (experts > 0) * maths.maximum(stage_dense_layers - recomputed_layers_a_piece, 0), 0
    )


@trained_on_stage(live=at("backward_first_layer", "backward_end"), source=SCHEDULE)
def held_of_others(
    layer_held: Any,
    layers_of_others: Any,
    dense_layer_held: Any,
    dense_of_others: Any,
    block_less: Any,
    block_layers: Any,
    pieces_in_flight: Any,
) -> Any:
    """Of other micro-batches, when one is nearly done."""
    return (
        layer_held * (layers_of_others - dense_of_others)
        + dense_layer_held * dense_of_others
        - block_less * block_layers * (pieces_in_flight - 1)
    )


@trained_on_stage(live=span("forward_layers", "backward_end"), source=f"{SCHEDULE}: deallocate_output_tensor")
def held_outputs(
    deallocate_pipeline_outputs: Any,
    has_head: Any,
    pieces_in_flight: Any,
    residual_bytes: Any,
    hidden: Any,
    token_shards: Any,
    tokens: Any,
) -> Any:
    """Outputs that were sent to the next stage, unless they are freed when they are."""
    return (
        (1 - deallocate_pipeline_outputs)
        * (1 - has_head)
        * pieces_in_flight
        * residual_bytes
        * hidden
        / token_shards
        * tokens
    )


@trained_on_stage(live=at("forward_layers"), source=LAYERS)
def forward_working_set(recomputes_last: Any, forward_work: Any, forward_end_work: Any, tokens: Any) -> Any:
    """The last layer's worst instant beside what is kept: all of it if it is recomputed later, else its end."""
    return maths.where(recomputes_last > 0, forward_work, forward_end_work) * tokens


@trained_on_stage(live=at("backward_last_layer"), source=LAYERS)
def last_layer_backward(recomputes_last: Any, layer_backward: Any, layer_saved: Any, tokens: Any) -> Any:
    """The last layer's backward beside what is kept already."""
    return layer_backward - (1 - recomputes_last) * layer_saved * tokens


@trained_on_stage(live=at("backward_first_layer"), source=LAYERS)
def first_layer_backward(layer_backward: Any, recomputes: Any, checkpoint_saved: Any, tokens: Any) -> Any:
    """The first layer's backward, the last there is, and the checkpoint that it was recomputed from."""
    return layer_backward + recomputes * checkpoint_saved * tokens


@trained_on_stage(live=at("backward_end"), source="torch: embedding, the gradient of all rows before it is added")
def embedding_gradient(
    has_embedding: Any,
    weight_bytes: Any,
    embedding_matrix: Any,
    residual_bytes: Any,
    hidden: Any,
    token_shards: Any,
    tokens: Any,
) -> Any:
    """The embedding's gradient, before it is added to the buffer, and that of its output."""
    return has_embedding * (weight_bytes * embedding_matrix + residual_bytes * hidden / token_shards * tokens)


@trained_on_stage(live=span("forward_layers", "backward_end"), source="Korthikanti et al. 2022, section 4.3")
def embedding_mask(
    has_embedding: Any,
    hidden_dropout: Any,
    hidden: Any,
    token_shards: Any,
    tokens: Any,
    pieces_in_flight: Any,
    truth: Any = BOOL,
) -> Any:
    """The mask of the dropout after the embedding: a byte an element."""
    return (hidden_dropout > 0) * has_embedding * hidden * truth / token_shards * tokens * pieces_in_flight


@trained_on_stage(
    live=span("forward_layers", "backward_first_layer"), source="Megatron-LM: RotaryEmbedding, in 32 bits"
)
def held_rotary_tables(rotary_tables: Any) -> Any:
    """Angles of every position."""
    return rotary_tables


@term(
    "byte",
    per={"role", "stage"},
    during={"train"},
    resource="allocated",
    live=resident & after("backward_end"),
    source=DUMMY,
)
def placeholder_gradients(
    gradient_accumulation_fusion: Any,
    weight_bytes: Any,
    attention_parameters: Any,
    gated: Any,
    hidden: Any,
    ffn: Any,
    expert_ffn: Any,
    shared_experts: Any,
    shared_ffn: Any,
    stage_dense_layers: Any,
    stage_expert_layers: Any,
) -> Any:
    """What stands for the gradient of a weight that a product adds to itself: one of every shape, for good."""
    return (
        gradient_accumulation_fusion
        * weight_bytes
        * (
            attention_parameters
            + (2 + gated)
            * hidden
            * ((stage_dense_layers > 0) * ffn + (stage_expert_layers > 0) * (expert_ffn + shared_experts * shared_ffn))
        )
    )


TRAINING = (
    layer_held,
    dense_layer_held,
    block_layers,
    dense_held_in_flight,
    block_less,
    held_activations,
    held_beside_loss,
    dense_of_others,
    held_of_others,
    held_outputs,
    forward_working_set,
    last_layer_backward,
    first_layer_backward,
    embedding_gradient,
    embedding_mask,
    held_rotary_tables,
    placeholder_gradients,
)
