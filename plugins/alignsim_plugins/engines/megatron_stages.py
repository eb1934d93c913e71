"""Pipeline stages of Megatron: which layers each kind of rank has, and how many micro-batches wait there.

Ranks between the first and the last stage differ only in how many micro-batches they hold, and the second stage holds
most. So three kinds stand for all stages: the first, the second and the last. One stage alone is the first, and has
the head as well.
"""

from __future__ import annotations

from typing import Any

from alignsim import Stage, maths, term

HOLDS = {"loss": "has_head"}
STAGES = (
    Stage("first", numbers={"begins": 1, "ends": 0}, holds=HOLDS),
    Stage("middle", present="has_middle", numbers={"begins": 0, "ends": 0}, holds=HOLDS),
    Stage("last", present="has_last", numbers={"begins": 0, "ends": 1}, holds=HOLDS),
)
SPLIT = "Megatron-LM d98e8a64: core/transformer/transformer_block.py, get_num_layers_to_build"
SCHEDULE = "Narayanan et al. 2021, section 2.2; Megatron-LM d98e8a64: core/pipeline_parallel/schedules.py"


@term("", per={"role"}, source=SPLIT)
def has_middle(pipeline: Any) -> Any:
    """1 where there are stages between the first and the last."""
    return 1 * (pipeline > 2)


@term("", per={"role"}, source=SPLIT)
def has_last(pipeline: Any) -> Any:
    """1 where the last stage is another than the first."""
    return 1 * (pipeline > 1)


@term("", per={"role", "stage"}, source=SPLIT)
def has_embedding(begins: Any, pipeline: Any) -> Any:
    """1 on the first stage, and where there is only one."""
    return maths.where(pipeline > 1, begins, 1)


@term("", per={"role", "stage"}, source=SPLIT)
def has_head(ends: Any, pipeline: Any) -> Any:
    """1 on the last stage, and where there is only one."""
    return maths.where(pipeline > 1, ends, 1)


@term("", per={"role"}, source=SPLIT)
def even_stages(pipeline: Any, first_stage_layers: Any, last_stage_layers: Any) -> Any:
    """Stages whose layers nobody states."""
    return pipeline - (first_stage_layers > 0) - (last_stage_layers > 0)


@term("layer", per={"role"}, source=SPLIT)
def dealt_layers(
    layers: Any, embedding_in_split: Any, loss_in_split: Any, first_stage_layers: Any, last_stage_layers: Any
) -> Any:
    """Layers that are dealt out to them evenly; embedding and loss are layers too, where they are told to be."""
    return layers + embedding_in_split + loss_in_split - first_stage_layers - last_stage_layers


@term("layer", per={"role", "stage"}, source=SPLIT)
def stage_slots(
    pipeline: Any,
    layers: Any,
    begins: Any,
    ends: Any,
    first_stage_layers: Any,
    last_stage_layers: Any,
    dealt_layers: Any,
    even_stages: Any,
) -> Any:
    """Layers of a stage, embedding and loss among them where they are dealt out."""
    return maths.where(
        pipeline > 1,
        maths.where(
            begins * first_stage_layers + ends * last_stage_layers > 0,
            begins * first_stage_layers + ends * last_stage_layers,
            maths.safe_divide(dealt_layers, even_stages),
        ),
        layers,
    )


@term("layer", per={"role", "stage"}, source=SPLIT)
def stage_layers(
    stage_slots: Any, pipeline: Any, begins: Any, ends: Any, embedding_in_split: Any, loss_in_split: Any
) -> Any:
    """Layers of a stage."""
    return stage_slots - (pipeline > 1) * (begins * embedding_in_split + ends * loss_in_split)


@term("", per={"role", "stage"}, source=SCHEDULE)
def stages_after(begins: Any, ends: Any, pipeline: Any) -> Any:
    """Stages behind this one."""
    return (1 - ends) * maths.maximum(pipeline - 2 + begins, 0)


@term("", per={"role"}, source=SCHEDULE)
def group_size(micro_batch_group: Any, pipeline: Any, accumulation_steps: Any) -> Any:
    """Micro-batches that go through one piece before the next piece begins."""
    return maths.minimum(maths.where(micro_batch_group > 0, micro_batch_group, pipeline), accumulation_steps)


@term("", per={"role", "stage"}, source=f"{SCHEDULE}: warm-up, and one more")
def pieces_in_flight(
    stages_after: Any,
    virtual: Any,
    micro_batch_group: Any,
    pipeline: Any,
    accumulation_steps: Any,
) -> Any:
    """Forwards of a piece that wait for their backward, at most; without interleaving, micro-batches."""
    return maths.minimum(
        accumulation_steps * virtual,
        maths.where(
            virtual > 1,
            (virtual - 1) * maths.where(micro_batch_group > 0, micro_batch_group, pipeline) + 2 * stages_after + 1,
            stages_after + 1,
        ),
    )


@term("", per={"role", "stage"}, source=SCHEDULE)
def first_pieces_in_flight(pieces_in_flight: Any, group_size: Any, virtual: Any) -> Any:
    """Of them, those of the piece that comes first."""
    return maths.where(
        virtual > 1,
        maths.minimum(pieces_in_flight, group_size)
        + maths.maximum(maths.minimum(pieces_in_flight - virtual * group_size, group_size), 0),
        pieces_in_flight,
    )


@term("layer", per={"role", "stage"}, source=SCHEDULE)
def layers_before_loss(
    pieces_in_flight: Any,
    first_pieces_in_flight: Any,
    stage_slots: Any,
    virtual: Any,
    pipeline: Any,
    begins: Any,
    embedding_in_split: Any,
) -> Any:
    """Layers whose forward waits, as if the loss were none of them."""
    return (
        pieces_in_flight * stage_slots / virtual - (pipeline > 1) * begins * embedding_in_split * first_pieces_in_flight
    )


@term("layer", per={"role", "stage"}, source=SCHEDULE)
def layers_at_loss(layers_before_loss: Any, ends: Any, loss_in_split: Any, pipeline: Any) -> Any:
    """Layers whose forward waits while the loss is computed: its own piece is one layer shorter."""
    return layers_before_loss - (pipeline > 1) * ends * loss_in_split


@term("layer", per={"role", "stage"}, source=SCHEDULE)
def layers_in_flight(
    layers_before_loss: Any,
    layers_at_loss: Any,
    virtual: Any,
    group_size: Any,
    accumulation_steps: Any,
) -> Any:
    """Layers whose forward waits, at most: pieces with the loss may be done when the next group begins."""
    return maths.where((virtual > 1) * (accumulation_steps > group_size) > 0, layers_before_loss, layers_at_loss)


@term("layer", per={"role", "stage"}, source=SCHEDULE)
def layers_of_others(layers_in_flight: Any, stage_layers: Any, virtual: Any) -> Any:
    """Of them, those of other micro-batches and pieces than the one that is worked on."""
    return maths.maximum(layers_in_flight - stage_layers / virtual, 0)


SPREAD = (
    has_middle,
    has_last,
    has_embedding,
    has_head,
    even_stages,
    dealt_layers,
    stage_slots,
    stage_layers,
    stages_after,
    group_size,
    pieces_in_flight,
    first_pieces_in_flight,
    layers_before_loss,
    layers_at_loss,
    layers_in_flight,
    layers_of_others,
)
