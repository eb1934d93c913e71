"""DPO written plainly: logits shifted by one, log-softmax of all of them, and the labels' gathered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, at, hookimpl, maths, span
from alignsim_plugins.activations.instants import inferred, trained
from alignsim_plugins.elements import TRACES
from alignsim_plugins.losses.head import DEFAULTS, HEAD, head_tokens
from alignsim_plugins.losses.logits import FORMATS, predicted_tokens
from alignsim_plugins.losses.slot import LOSS, PAIRS, VOCABULARY

SOURCE = f"Rafailov et al. 2023: trainers.py, _get_batch_logps without its .float(); {TRACES}"


@trained(live=at("loss"))
def logits_at_loss(tokens: Any, predicted_tokens: Any, vocab: Any, logit_bytes: Any, conversion_bytes: Any) -> Any:
    """The logits while they are converted; then the logits, their shifted copy and its log-softmax."""
    return vocab * maths.maximum(conversion_bytes * tokens, logit_bytes * (tokens + 2 * predicted_tokens))


@trained(live=span("loss", "backward_loss", without=("loss", "backward_loss")))
def logits_held(predicted_tokens: Any, vocab: Any, logit_bytes: Any) -> Any:
    """The log-softmax, which backward reads."""
    return predicted_tokens * vocab * logit_bytes


@trained(live=at("backward_loss"))
def logits_in_backward(predicted_tokens: Any, vocab: Any, logit_bytes: Any) -> Any:
    """The log-softmax, its gradient and the logits' gradient."""
    return 3 * predicted_tokens * vocab * logit_bytes


@inferred(live=at("loss"))
def inferred_logits_at_loss(tokens: Any, predicted_tokens: Any, vocab: Any, logit_bytes: Any) -> Any:
    """The logits, their shifted copy and its log-softmax."""
    return vocab * logit_bytes * (tokens + 2 * predicted_tokens)


NAIVE = Component(
    name="naive",
    slot=LOSS,
    terms=(
        *HEAD,
        *FORMATS,
        head_tokens,
        predicted_tokens,
        logits_at_loss,
        logits_held,
        logits_in_backward,
        inferred_logits_at_loss,
    ),
    defaults={**DEFAULTS, "inside_forward": Const(0, source=SOURCE)},
    limits=VOCABULARY,
    kinds={PAIRS},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer the plain way."""
    yield NAIVE
