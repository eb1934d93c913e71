"""A loss path that multiplies by the head itself, chunk by chunk, as a few numbers: logits are never whole.

:func:`chunked_head` makes a component of them; see :mod:`alignsim_plugins.losses.coefficients` for whole logits. Some
make the gradients in the forward and hold them (``early``), others make logits again in backward.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from alignsim import Component, Const, Term, at, maths, span, term
from alignsim.limits import SWITCH
from alignsim_plugins.activations.instants import inferred, trained
from alignsim_plugins.losses.head import (
    head_gradient,
    head_input_gradient,
    head_matrix,
    late_gradients,
    tied_gradient_copies,
)
from alignsim_plugins.losses.selectors import ALL, Tokens
from alignsim_plugins.losses.slot import LOSS, VOCABULARY
from alignsim_plugins.losses.trl_fused import inferred_casts_at_loss, inferred_norm_output

SOURCE = "bytes = tokens of a chunk x words x a coefficient of the instant"

MOMENTS = {
    "forward": "all that lives of a chunk's logits while the loss is computed",
    "backward": "all that lives of a chunk's logits in backward",
    "inferred": "all that lives of a chunk's logits without gradients",
}
"""What the coefficients mean, in bytes per token of a chunk and word: ``forward_tile`` and so on."""


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def head_input_saved(early: Any, compute_bytes: Any, hidden: Any, head_tokens: Any) -> Any:
    """The head's input, unless gradients are made in the forward: then nobody reads it again."""
    return maths.where(early > 0, 0, compute_bytes * hidden * head_tokens)


@term("byte", per={"role"}, source=SOURCE)
def norm_output(early: Any, casts_weights: Any, head_tokens: Any, tokens: Any, residual_bytes: Any, hidden: Any) -> Any:
    """All rows of it, unless the head's input that is kept is the same tensor."""
    return maths.where(early + casts_weights + (head_tokens < tokens) > 0, residual_bytes * hidden * tokens, 0)


@trained(live=at("loss"))
def tile_at_loss(
    early: Any, chunk_tokens: Any, vocab: Any, forward_tile: Any, head_gradient: Any, head_products: Any
) -> Any:
    """All copies of one chunk's logits; and its part of the head's gradient, where that is made now."""
    return chunk_tokens * vocab * forward_tile + early * head_products * head_gradient


@trained(live=span("loss", "backward_loss"))
def early_gradients(early: Any, head_gradient: Any, compute_bytes: Any, hidden: Any, head_tokens: Any) -> Any:
    """Gradients of the head and of its input, where the forward makes them."""
    return early * (head_gradient + compute_bytes * hidden * head_tokens)


@trained(live=at("backward_head"))
def tile_in_backward(
    early: Any, chunk_tokens: Any, vocab: Any, backward_tile: Any, head_gradient: Any, head_products: Any
) -> Any:
    """All copies of one chunk's logits made again, and its part of the head's gradient before it is added."""
    return maths.where(early > 0, 0, chunk_tokens * vocab * backward_tile + head_products * head_gradient)


@inferred(live=at("loss"))
def inferred_tile(chunk_tokens: Any, vocab: Any, inferred_tile_bytes: Any) -> Any:
    """All copies of one chunk's logits where no gradient is made."""
    return chunk_tokens * vocab * inferred_tile_bytes


TERMS = (
    head_matrix,
    head_gradient,
    late_gradients,
    tied_gradient_copies,
    head_input_gradient,
    head_input_saved,
    norm_output,
    tile_at_loss,
    early_gradients,
    tile_in_backward,
    inferred_norm_output,
    inferred_tile,
    inferred_casts_at_loss,
)

Ranged = float | tuple[float, float, float]


def chunked_head(
    name: str,
    *,
    source: str,
    kinds: Iterable[str] = (),
    chunk: tuple[Term, ...],
    forward: Ranged,
    backward: Ranged,
    inferred: Ranged,
    early: bool,
    tokens: Tokens = ALL,
    inside_forward: bool = False,
    head_products: float = 0,
) -> Component:
    """Return a loss path.

    Args:
        name: framework, version, way.
        source: the framework's file, and where the numbers were measured.
        kinds: what it is for, of :data:`~alignsim_plugins.losses.slot.LOSS`'s kinds or others.
        chunk: the term ``chunk_tokens``, and what it needs.
        forward: bytes per token of a chunk and word; three numbers are the expected, the least and the most.
        backward: likewise.
        inferred: likewise.
        early: whether the forward makes the gradients, and holds them.
        tokens: which tokens have logits.
        inside_forward: whether the model's own forward computes the loss.
        head_products: copies of the head's gradient while a chunk's part is added to it, beside the gradient.
    """
    defaults = {"forward_tile": forward, "backward_tile": backward, "inferred_tile_bytes": inferred}
    return Component(
        name=name,
        slot=LOSS,
        terms=(*TERMS, *tokens.terms[:-1], *chunk),
        defaults={
            "inside_forward": Const(float(inside_forward), source=source),
            "fused_head": Const(1, source=source),
            "early": Const(float(early), source=source, limit=SWITCH),
            "head_products": Const(head_products, source=source),
            **{key: _bytes(number, source) for key, number in defaults.items()},
        },
        limits=VOCABULARY,
        kinds=kinds,
        source=source,
    )


def _bytes(number: Ranged, source: str) -> Const:
    expected, low, high = number if isinstance(number, tuple) else (number, None, None)
    return Const(expected, "byte", source=source, low=low, high=high)
