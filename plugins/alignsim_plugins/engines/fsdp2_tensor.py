"""fully_shard over tensor-parallel layers (DTensor): every rank has shards of its part of the matrices.

The gradient of an embedding is made whole on every rank, and then divided.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, maths, span, term
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.engines.fsdp2 import FSDP2
from alignsim_plugins.engines.fsdp2_backward import embedding_at_the_end as embedding_without_ranks
from alignsim_plugins.engines.fsdp2_units import SOURCE
from alignsim_plugins.engines.tensor_rank import GATHERED, PLAN, TENSOR_RANK, limits_of


@term("byte", per={"role"}, during={"train"}, source=f"{PLAN}: what embedding_dense_backward makes is divided after it")
def whole_embedding_gradient(
    whole_vocab: Any, hidden: Any, trained_of_root: Any, trained_of_embedding: Any, made_gradient_bytes: Any
) -> Any:
    """The embedding's gradient of all words, of which a rank then copies its own; none where it is frozen."""
    return (trained_of_root + trained_of_embedding > 0) * made_gradient_bytes * whole_vocab * hidden


@term("byte", per={"role"}, during={"train"}, source=f"{PLAN}; {SOURCE}")
def embedding_at_the_end(
    embedding_alone: Any,
    wrapped_embedding: Any,
    whole_embedding_gradient: Any,
    root_gathered: Any,
    reducing_layer: Any,
    gradients_exist: Any,
    wrapped_head: Any,
    head_gradient: Any,
    trained_of_root: Any,
    made_gradient_bytes: Any,
    embedding_matrix: Any,
    tensor: Any,
) -> Any:
    """The embedding's backward: its gradient whole and its rank's part, beside the head's and the first layer's.

    Of an embedding of its own, the same as without other ranks, and the whole gradient.
    """
    return maths.where(
        (tensor <= 1) + (wrapped_embedding > 0) > 0,
        embedding_alone + (tensor > 1) * whole_embedding_gradient,
        root_gathered
        + reducing_layer
        + maths.where(gradients_exist + wrapped_head > 0, 0, head_gradient)
        + whole_embedding_gradient
        + (trained_of_root > 0) * made_gradient_bytes * embedding_matrix,
    )


@trained(live=span("forward_layers", "backward_end"), source=f"torch 2.13: to_accumulated_grad_if_needed; {PLAN}")
def accumulated_embedding(
    accumulates_whole: Any,
    reduction_bytes: Any,
    whole_embedding_gradient: Any,
    whole_vocab: Any,
    words_of_a_rank: Any,
    hidden: Any,
) -> Any:
    """Gradients that are added up before they are reduced: of the embedding, the words of other ranks as well."""
    return (
        accumulates_whole * (whole_embedding_gradient > 0) * reduction_bytes * (whole_vocab - words_of_a_rank) * hidden
    )


OWN = (whole_embedding_gradient, embedding_at_the_end, accumulated_embedding)
BASE = tuple(each for each in FSDP2.terms if each.name != "embedding_at_the_end")

FSDP2_TENSOR = Component(
    name="fsdp2-tensor",
    slot=FSDP2.slot,
    terms=(*TENSOR_RANK, *BASE, embedding_without_ranks.again(name="embedding_alone"), *OWN),
    defaults={**FSDP2.defaults, "gathers_logits": GATHERED},
    limits=limits_of(FSDP2),
    kinds=FSDP2.kinds,
    source=f"{PLAN}; {FSDP2.source}",
    left_out=FSDP2.left_out,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer fully_shard over tensor-parallel layers."""
    yield FSDP2_TENSOR
