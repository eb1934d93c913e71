"""A loss path of whole logits as a few numbers: bytes per token and word at each instant, and which tokens have logits.

:func:`coefficients` makes a component of them. The terms are the same for all; the numbers are defaults of the
component, each with its source, and can be set like any other input. There are two of each, for logits in 16 and in
32 bits: some paths copy logits in their own format, some in 32 bits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from alignsim import Component, Const, Term, at, maths, span, term
from alignsim_plugins.activations.instants import inferred, trained
from alignsim_plugins.elements import BF16
from alignsim_plugins.losses.head import DEFAULTS, HEAD
from alignsim_plugins.losses.logits import FORMATS
from alignsim_plugins.losses.selectors import ALL, Tokens
from alignsim_plugins.losses.slot import LOSS, VOCABULARY

SOURCE = "bytes = tokens x words x a coefficient of the instant"
NO_CHUNKS = {"chunk_tokens": Const(0, "token", source="nothing is computed in chunks")}

MOMENTS = {
    "forward": "all that lives while the loss is computed, the head's output included",
    "held": "of it, what is kept while others work, and for backward",
    "backward": "all that lives in the loss's own backward, what was kept included",
    "inferred": "all that lives while the loss is computed without gradients",
}
"""What the coefficients mean. ``forward_narrow`` is for 16-bit logits, ``forward_wide`` for 32-bit ones."""

CHUNKED = ("forward", "backward", "inferred")
"""Moments that may have a part per token of a chunk: ``forward_chunk`` and so on, the same in both formats."""


@term("", per={"role"}, source="inside a model's forward, outputs are not converted yet")
def narrow(inside_forward: Any, compute_bytes: Any, logit_bytes: Any, half: Any = BF16) -> Any:
    """1 where the loss is given 16-bit logits."""
    return maths.where(inside_forward > 0, compute_bytes, logit_bytes) <= half


@trained(live=at("loss"))
def logits_at_loss(
    logit_tokens: Any,
    vocab: Any,
    narrow: Any,
    forward_narrow: Any,
    forward_wide: Any,
    forward_chunk: Any,
    chunk_tokens: Any,
) -> Any:
    """All copies of logits while the loss is computed."""
    return vocab * (logit_tokens * maths.where(narrow > 0, forward_narrow, forward_wide) + chunk_tokens * forward_chunk)


@trained(live=span("loss", "backward_loss", without=("loss", "backward_loss")))
def logits_held(logit_tokens: Any, vocab: Any, narrow: Any, held_narrow: Any, held_wide: Any) -> Any:
    """What is kept of them between forward and backward."""
    return vocab * logit_tokens * maths.where(narrow > 0, held_narrow, held_wide)


@trained(live=at("backward_loss"))
def logits_in_backward(
    logit_tokens: Any,
    vocab: Any,
    narrow: Any,
    backward_narrow: Any,
    backward_wide: Any,
    backward_chunk: Any,
    chunk_tokens: Any,
) -> Any:
    """What is kept, and gradients."""
    return vocab * (
        logit_tokens * maths.where(narrow > 0, backward_narrow, backward_wide) + chunk_tokens * backward_chunk
    )


@inferred(live=at("loss"))
def inferred_logits_at_loss(
    logit_tokens: Any,
    vocab: Any,
    narrow: Any,
    inferred_narrow: Any,
    inferred_wide: Any,
    inferred_chunk: Any,
    chunk_tokens: Any,
) -> Any:
    """All copies of logits where no gradient is made."""
    return vocab * (
        logit_tokens * maths.where(narrow > 0, inferred_narrow, inferred_wide) + chunk_tokens * inferred_chunk
    )


TERMS = (*HEAD, *FORMATS, narrow, logits_at_loss, logits_held, logits_in_backward, inferred_logits_at_loss)

Pair = tuple[float, float]


def coefficients(
    name: str,
    *,
    source: str,
    kinds: Iterable[str] = (),
    forward: Pair,
    held: Pair,
    backward: Pair | None,
    inferred: Pair | None = None,
    tokens: Tokens = ALL,
    inside_forward: bool = False,
    chunk: dict[str, float] | None = None,
    ranges: dict[str, Pair] | None = None,
    terms: tuple[Term, ...] = (),
    defaults: dict[str, Const] | None = None,
) -> Component:
    """Return a loss path.

    Args:
        name: framework, version, way.
        source: the framework's file, and where the numbers were measured.
        kinds: what it is for, of :data:`~alignsim_plugins.losses.slot.LOSS`'s kinds or others.
        forward: bytes per token and word for 16-bit and for 32-bit logits; see :data:`MOMENTS`.
        held: likewise.
        backward: likewise; None where a ``logits_in_backward`` among ``terms`` says it.
        inferred: likewise; None where it is the same as ``forward``.
        tokens: which tokens have logits.
        inside_forward: whether the model's own forward computes the loss.
        chunk: moment -> bytes per token of a chunk and word, beside the rest; ``terms`` say how many ``chunk_tokens``.
        ranges: coefficient -> the least and the most that it may be.
        terms: terms of its own; one of a shared name takes that one's place.
        defaults: numbers of its own.
    """
    numbers: dict[str, float] = {f"{moment}_chunk": (chunk or {}).get(moment, 0.0) for moment in CHUNKED}
    for moment, pair in {"forward": forward, "held": held, "backward": backward, "inferred": inferred}.items():
        numbers[f"{moment}_narrow"], numbers[f"{moment}_wide"] = pair or forward
    if backward is None:
        numbers = {key: number for key, number in numbers.items() if not key.startswith("backward")}
    if inferred is None:
        numbers["inferred_chunk"] = numbers["forward_chunk"]
    own = {t.name for t in terms}
    bounds = ranges or {}
    return Component(
        name=name,
        slot=LOSS,
        terms=(
            *(t for t in (*TERMS, *tokens.terms) if t.name not in own),
            *terms,
        ),
        defaults={
            **DEFAULTS,
            "inside_forward": Const(float(inside_forward), source=source),
            **{
                key: Const(number, "byte", source=source, low=low, high=high)
                for key, number in numbers.items()
                for low, high in [bounds.get(key, (None, None))]
            },
            **({} if chunk else NO_CHUNKS),
            **(defaults or {}),
        },
        limits=VOCABULARY,
        kinds=kinds,
        source=source,
    )
