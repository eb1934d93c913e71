"""The fused head of TRL 1.16: head and loss together, tile by tile, so that logits are never whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, at, hookimpl, maths, term
from alignsim.limits import COUNT
from alignsim_plugins.activations.inference import NOTHING
from alignsim_plugins.activations.instants import inferred, trained
from alignsim_plugins.elements import FP32, TRACES
from alignsim_plugins.losses.head import late_gradients
from alignsim_plugins.losses.logits import completion_tokens, loss_tokens, predicted_tokens
from alignsim_plugins.losses.slot import ANSWERS, CROSS_ENTROPY, LOSS, PAIRS, TOKENS, VOCABULARY

SOURCE = f"TRL 1.16: the chunked head of SFT, DPO, KTO, GRPO and RLOO; {TRACES}"
TILE_TOKENS = Const(4096, "token", source="TRL 1.16: rows of a tile", limit=COUNT)
TILE_WORDS = Const(16384, source="TRL 1.16: columns of a tile", limit=COUNT)


@term("token", per={"role"}, source=SOURCE)
def head_tokens(loss_tokens: Any) -> Any:
    """Only tokens that have a loss."""
    return loss_tokens


@term("byte", per={"role"}, source=SOURCE)
def logits_tile(
    vocab: Any, loss_tokens: Any, tile_words: Any = TILE_WORDS, tile_tokens: Any = TILE_TOKENS, fp32: Any = FP32
) -> Any:
    """Logits of so many tokens and words in 32 bits."""
    return fp32 * maths.minimum(vocab, tile_words) * maths.minimum(loss_tokens, tile_tokens)


@term("byte", per={"role"}, source=SOURCE)
def head_tile_cast(
    casts_weights: Any, compute_bytes: Any, vocab: Any, hidden: Any, tile_words: Any = TILE_WORDS
) -> Any:
    """Autocast's casts of the rows of the head that a tile multiplies by, twice over."""
    return 2 * casts_weights * compute_bytes * maths.minimum(vocab, tile_words) * hidden


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def head_input_saved(residual_bytes: Any, hidden: Any, loss_tokens: Any) -> Any:
    """The rows of the norm's output that have a loss."""
    return residual_bytes * hidden * loss_tokens


@term("byte", per={"role"}, source=SOURCE)
def norm_output(residual_bytes: Any, hidden: Any, tokens: Any) -> Any:
    """All rows of it, of which a selection is made."""
    return residual_bytes * hidden * tokens


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def head_gradient(frozen_head: Any, made_gradient_bytes: Any, embedding_matrix: Any) -> Any:
    """One for every parameter of the head, unless it is frozen."""
    return maths.where(frozen_head > 0, 0, made_gradient_bytes * embedding_matrix)


@term("", per={"role"}, during={"train"}, source=f"autograd adds a tied weight's two gradients; {TRACES}")
def tied_gradient_copies(tied: Any) -> Any:
    """The embedding's part, beside the head's that it is added to."""
    return tied


@trained(live=at("loss", "backward_head"))
def tile_at_work(logits_tile: Any) -> Any:
    """One tile, in forward and made again in backward."""
    return logits_tile


@trained(live=at("loss"))
def casts_at_work(head_tile_cast: Any, casts_weights: Any, compute_bytes: Any, hidden: Any, loss_tokens: Any) -> Any:
    """Autocast's casts of rows of the head and of its input."""
    return head_tile_cast + casts_weights * compute_bytes * hidden * loss_tokens


@trained(live=at("backward_head"))
def casts_in_backward(head_tile_cast: Any) -> Any:
    """Twice as many."""
    return 2 * head_tile_cast


@trained(live=at("backward_head"))
def head_input_gradient(compute_bytes: Any, hidden: Any, loss_tokens: Any, fp32: Any = FP32) -> Any:
    """The gradient of the head's input, added up in 32 bits, and its cast."""
    return (fp32 + compute_bytes) * hidden * loss_tokens


@trained(live=at("backward_head"))
def head_gradient_sum(frozen_head: Any, made_gradient_bytes: Any, embedding_matrix: Any, fp32: Any = FP32) -> Any:
    """The head's gradient is added up in 32 bits, beside its cast where gradients are narrower."""
    return maths.where(frozen_head + (made_gradient_bytes >= fp32) > 0, 0, fp32 * embedding_matrix)


@inferred(live=at("forward_head", "loss"))
def inferred_norm_output(norm_output: Any) -> Any:
    """All rows, also while the loss is computed."""
    return norm_output


@inferred(live=at("loss"))
def inferred_tile(
    logits_tile: Any,
    head_tile_cast: Any,
    casts_weights: Any,
    residual_bytes: Any,
    compute_bytes: Any,
    hidden: Any,
    loss_tokens: Any,
) -> Any:
    """One tile, the rows that have a loss, and autocast's casts of them and of rows of the head."""
    return logits_tile + head_tile_cast + (residual_bytes + casts_weights * compute_bytes) * hidden * loss_tokens


@inferred(live=at("loss"))
def inferred_casts_at_loss(layer_casts: Any = NOTHING, adapter_casts: Any = NOTHING) -> Any:
    """Autocast is not left before the loss is there."""
    return layer_casts + adapter_casts


TRL_FUSED = Component(
    name="trl-fused",
    slot=LOSS,
    terms=(
        completion_tokens,
        predicted_tokens,
        loss_tokens,
        head_tokens,
        logits_tile,
        head_tile_cast,
        head_input_saved,
        norm_output,
        head_gradient,
        late_gradients,
        tied_gradient_copies,
        tile_at_work,
        casts_at_work,
        casts_in_backward,
        head_input_gradient,
        head_gradient_sum,
        inferred_norm_output,
        inferred_tile,
        inferred_casts_at_loss,
    ),
    defaults={
        "head_matrix": Const(0, "parameter", source="the head is never multiplied by in one piece"),
        "inside_forward": Const(1, source="TRL 1.16: the model's forward is replaced by one that gives the loss"),
        "fused_head": Const(1, source=SOURCE),
    },
    limits=VOCABULARY,
    kinds={CROSS_ENTROPY, TOKENS, PAIRS, ANSWERS},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer TRL's fused head."""
    yield TRL_FUSED
