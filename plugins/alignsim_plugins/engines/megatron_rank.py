"""The model as one tensor and context rank of Megatron sees it: the widths that are divided, and what follows of them.

The terms of a role are looked up before those of its model. So a role's own ``heads`` is what a rank has of the
model's, and every formula of its role, the kernels' and the loss path's too, computes a rank's part.
"""

from __future__ import annotations

from typing import Any

from alignsim import Const, Term, maths, term
from alignsim.limits import COUNT
from alignsim_plugins.architectures.parameters import (
    attention_extra_parameters,
    attention_parameters,
    dense_layer_parameters,
    embedding_parameters,
    expert_parameters,
    grouped_attention_parameters,
    head_parameters,
    latent_attention_parameters,
    latent_query_parameters,
    mlp_parameters,
    parameters,
    router_parameters,
    shared_expert_parameters,
)
from alignsim_plugins.architectures.widths import (
    cast_matrices,
    down_matrix,
    embedding_matrix,
    inner_matrices,
    key_width,
    largest_matrix,
    layer_parameters,
    output_width,
    qkv_parameters,
    query_width,
    value_storage,
)

SHOEYBI = "Shoeybi et al. 2019 (Megatron-LM), section 3"
VOCABULARY = "Megatron-LM d98e8a64: training/tokenizer, make_vocab_size_divisible_by"


@term("", per={"role"}, source=f"{SHOEYBI}: heads are divided")
def heads(heads: Any, tensor: Any) -> Any:
    """Query heads of a rank."""
    return heads / tensor


@term("", per={"role"}, source="Megatron-LM d98e8a64: core/transformer/attention.py, num_query_groups_per_partition")
def kv_heads(kv_heads: Any, tensor: Any) -> Any:
    """Key and value heads of a rank: a copy of one where there are more ranks than heads."""
    return maths.maximum(kv_heads / tensor, 1)


@term("", per={"role"}, source=f"{SHOEYBI}: up by columns, down by rows")
def ffn(ffn: Any, tensor: Any) -> Any:
    """Inner width of a rank's part of the MLP."""
    return ffn / tensor


@term(
    "",
    per={"role"},
    source=f"{SHOEYBI}: the embedding by words; {VOCABULARY}",
)
def vocab(
    vocab: Any,
    tensor: Any,
    vocabulary_multiple: Any = Const(128, source=f"{VOCABULARY}, 128 unless told otherwise", limit=COUNT),
) -> Any:
    """Words of a rank, after the vocabulary has been padded to a multiple for every rank."""
    return maths.ceil(vocab / (vocabulary_multiple * tensor)) * vocabulary_multiple


@term("token", per={"role"}, source="Megatron-LM d98e8a64: core/utils.py, get_batch_on_this_cp_rank")
def sequence_tokens(sequence_tokens: Any, context: Any) -> Any:
    """Tokens of a sequence that a rank has: its part of the beginning and of the end."""
    return sequence_tokens / context


def of_a_rank(known: Term) -> Term:
    """Return the formula of a model, computed of what a rank sees."""
    return known.again(per=frozenset({"role"}))


DERIVED = tuple(
    map(
        of_a_rank,
        (
            query_width,
            key_width,
            output_width,
            value_storage,
            embedding_matrix,
            qkv_parameters,
            down_matrix,
            inner_matrices,
            cast_matrices,
            layer_parameters,
            largest_matrix,
            embedding_parameters,
            grouped_attention_parameters,
            attention_extra_parameters,
            latent_query_parameters,
            latent_attention_parameters,
            attention_parameters,
            mlp_parameters,
            dense_layer_parameters,
            expert_parameters,
            shared_expert_parameters,
            router_parameters,
            head_parameters,
            parameters,
        ),
    )
)
"""What follows of the widths that are divided."""

RANK = (heads, kv_heads, ffn, vocab, sequence_tokens, *DERIVED)
"""What the engine brings for every role: ``parameters`` is what a rank would hold of all stages."""
