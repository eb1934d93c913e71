"""DPO written plainly in 32 bits: logits shifted by one and converted, then log-softmax of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, at, hookimpl, maths, span
from alignsim_plugins.activations.instants import inferred, trained
from alignsim_plugins.elements import FP32, TRACES
from alignsim_plugins.losses.head import DEFAULTS, HEAD, head_tokens
from alignsim_plugins.losses.logits import FORMATS, narrow_logits, predicted_tokens
from alignsim_plugins.losses.slot import LOSS, PAIRS, VOCABULARY

SOURCE = f"Rafailov et al. 2023: trainers.py, _get_batch_logps and its .float() of all logits; {TRACES}"


@trained(live=at("loss"))
def logits_at_loss(
    tokens: Any,
    predicted_tokens: Any,
    vocab: Any,
    logit_bytes: Any,
    conversion_bytes: Any,
    narrow_logits: Any,
    fp32: Any = FP32,
) -> Any:
    """The shifted copy in 32 bits and its log-softmax; beside the logits, unless those were 16-bit and are gone."""
    return vocab * maths.maximum(
        conversion_bytes * tokens,
        maths.where(narrow_logits > 0, 0, logit_bytes * tokens) + 2 * fp32 * predicted_tokens,
    )


@trained(live=span("loss", "backward_loss", without=("loss", "backward_loss")))
def logits_held(predicted_tokens: Any, vocab: Any, fp32: Any = FP32) -> Any:
    """The log-softmax, which backward reads."""
    return predicted_tokens * vocab * fp32


@trained(live=at("backward_loss"))
def logits_in_backward(predicted_tokens: Any, vocab: Any, fp32: Any = FP32) -> Any:
    """The log-softmax, its gradient and the logits' gradient in 32 bits."""
    return 3 * predicted_tokens * vocab * fp32


@inferred(live=at("loss"))
def inferred_logits_at_loss(
    tokens: Any, predicted_tokens: Any, vocab: Any, logit_bytes: Any, narrow_logits: Any, fp32: Any = FP32
) -> Any:
    """The shifted copy and its log-softmax; beside the logits, unless those were 16-bit and are gone."""
    return vocab * (maths.where(narrow_logits > 0, 0, logit_bytes * tokens) + 2 * fp32 * predicted_tokens)


NAIVE_FP32 = Component(
    name="naive-fp32",
    slot=LOSS,
    terms=(
        *HEAD,
        *FORMATS,
        narrow_logits,
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
    """Offer the plain way in 32 bits."""
    yield NAIVE_FP32
