"""The model as one rank of a tensor-parallel mesh (DTensor) sees it: heads, inner width and words are divided.

Projections into attention and MLP are divided by columns, those out of them by rows, embedding and head by words; norms
and the residual stream are whole on every rank. ``gathers_logits`` gives every rank the logits of all words; without it
a rank has those of its own, for a loss that works on them, as NeMo-RL's does.
"""

from __future__ import annotations

from typing import Any

from alignsim import Component, Const, Limit, Term, at, maths, term
from alignsim.limits import SWITCH
from alignsim_plugins.engines.megatron_rank import DERIVED, ffn, heads
from alignsim_plugins.engines.megatron_refusals import ffn_left_over, heads_left_over, shape_missing

PLAN = "torch 2.13: distributed/tensor/parallel/style.py, ColwiseParallel and RowwiseParallel"
GATHERED = Const(
    1, source="transformers 5.24: base_model_tp_plan, lm_head colwise_gather_output; NeMo-RL: 0", limit=SWITCH
)


@term("", per={"role"}, source=PLAN)
def kv_heads(kv_heads: Any, tensor: Any) -> Any:
    """Key and value heads of a rank."""
    return kv_heads / tensor


@term("", per={"role"}, source=f"{PLAN}; of the head, output_layouts")
def vocab(vocab: Any, tensor: Any, gathers_logits: Any = GATHERED) -> Any:
    """Words whose logits a rank has: all, where they are gathered."""
    return maths.where(gathers_logits > 0, vocab, vocab / tensor)


@term("", per={"role"}, source=PLAN)
def words_of_a_rank(vocab: Any, tensor: Any, gathers_logits: Any = GATHERED) -> Any:
    """Rows of embedding and head on a rank."""
    return maths.where(gathers_logits > 0, vocab / tensor, vocab)


@term("parameter", per={"role"}, source=PLAN)
def embedding_matrix(words_of_a_rank: Any, hidden: Any) -> Any:
    """A rank's rows of the token embedding; its head is as large."""
    return words_of_a_rank * hidden


@term("parameter", per={"role"}, source=f"{PLAN}; positions are not divided")
def embedding_parameters(embedding_matrix: Any, learned_positions: Any, hidden: Any) -> Any:
    """A rank's rows of the token embedding, and all of a position embedding."""
    return embedding_matrix + learned_positions * hidden


@term("parameter", per={"role"}, source=f"{PLAN}; one vector is not divided")
def head_parameters(hidden: Any, words_of_a_rank: Any, tied: Any, head_bias: Any, scalar_head: Any) -> Any:
    """A rank's rows of the head (only its bias where tied), or the vector of a critic or reward model."""
    return maths.where(scalar_head > 0, hidden, words_of_a_rank * (hidden * (1 - tied) + head_bias))


@term("", per={"role"}, source=PLAN, refuses="kv_heads must be a multiple of tensor: every rank has whole heads")
def kv_heads_left_over(kv_heads: Any) -> Any:
    """Parts of key and value heads."""
    return kv_heads - maths.floor(kv_heads)


@term("", per={"role"}, source=PLAN, refuses="vocab must be a multiple of tensor: ranks have equally many words")
def words_left_over(words_of_a_rank: Any) -> Any:
    """Parts of words."""
    return words_of_a_rank - maths.floor(words_of_a_rank)


@term(
    "byte",
    per={"phase", "role"},
    during={"train", "infer"},
    resource="allocated",
    live=at("forward_head"),
    source=f"{PLAN}: all_gather_into_tensor, and the parts of every rank joined",
)
def gathering_logits(
    gathers_logits: Any,
    tensor: Any,
    fused_head: Any,
    scalar_head: Any,
    head_tokens: Any,
    vocab: Any,
    compute_bytes: Any,
) -> Any:
    """Beside all logits: the buffer that they are gathered into, and a rank's own."""
    return (
        gathers_logits
        * (tensor > 1)
        * (1 - fused_head)
        * (1 - scalar_head)
        * compute_bytes
        * head_tokens
        * vocab
        * (1 + 1 / tensor)
    )


@term("", per={"model"}, source="the embedding's rows, of all ranks together")
def whole_vocab(vocab: Any) -> Any:
    """Words of the model."""
    return vocab


OWN = (
    heads,
    kv_heads,
    ffn,
    vocab,
    whole_vocab,
    gathering_logits,
    words_of_a_rank,
    embedding_matrix,
    embedding_parameters,
    head_parameters,
    heads_left_over,
    kv_heads_left_over,
    ffn_left_over,
    words_left_over,
    shape_missing,
)
NAMES = {each.name for each in OWN}
TENSOR_RANK: tuple[Term, ...] = (*OWN, *(each for each in DERIVED if each.name not in NAMES))


def limits_of(base: Component) -> dict[str, Limit]:
    """Return what an engine asks of numbers, where ranks share its layers."""
    whole = {name: limit for name, limit in base.limits.items() if name != "tensor"}
    return whole | {
        "sequence_parallel": Limit(0, because="norms and residuals that share tokens are not modelled here"),
        "experts": Limit(0, because="experts under tensor parallelism are not modelled here; choose engine 'megatron'"),
    }
