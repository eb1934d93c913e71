"""DPO as TRL computes it up to 0.2x: whole logits, log-softmax row by row, and means of the logits for its logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, at, hookimpl, maths, span
from alignsim_plugins.activations.instants import inferred, trained
from alignsim_plugins.elements import TRACES
from alignsim_plugins.losses.head import DEFAULTS, HEAD, head_tokens
from alignsim_plugins.losses.logits import FORMATS, completion_tokens, narrow_logits
from alignsim_plugins.losses.slot import LOSS, PAIRS, VOCABULARY

SOURCE = f"TRL 0.19: dpo_trainer.py, concatenated_forward; trainer/utils.py, selective_log_softmax; {TRACES}"


@trained(live=at("loss"))
def logits_at_loss(
    tokens: Any, completion_tokens: Any, vocab: Any, logit_bytes: Any, conversion_bytes: Any, narrow_logits: Any
) -> Any:
    """The logits while they are converted; then the logits, log-softmaxes of 16-bit ones, and half the rows' copy.

    The copy holds the completions of the chosen, and then of the rejected, whose mean logits are logged.
    """
    return vocab * maths.maximum(
        conversion_bytes * tokens, logit_bytes * (tokens * (1 + narrow_logits) + completion_tokens / 2)
    )


@trained(live=span("loss", "backward_loss", without=("loss", "backward_loss")))
def logits_held(tokens: Any, vocab: Any, logit_bytes: Any) -> Any:
    """The logits; log-softmaxes in their place where they are 16-bit."""
    return tokens * vocab * logit_bytes


@trained(live=at("backward_loss"))
def logits_in_backward(tokens: Any, vocab: Any, logit_bytes: Any, narrow_logits: Any) -> Any:
    """What was held and its gradient; in 32 bits, gradients of both the gathered logits and their log-sums."""
    return tokens * vocab * logit_bytes * (3 - narrow_logits)


@inferred(live=at("loss"))
def inferred_logits_at_loss(
    tokens: Any,
    rows: Any,
    completion_tokens: Any,
    vocab: Any,
    logit_bytes: Any,
    conversion_bytes: Any,
    narrow_logits: Any,
) -> Any:
    """The logits, and two rows' log-softmaxes at once or half the rows' copy."""
    return vocab * maths.maximum(
        conversion_bytes * tokens,
        logit_bytes * (tokens + maths.maximum(2 * narrow_logits * tokens / rows, completion_tokens / 2)),
    )


TRL_DPO_TERMS = (
    *HEAD,
    *FORMATS,
    narrow_logits,
    head_tokens,
    completion_tokens,
    logits_at_loss,
    logits_held,
    logits_in_backward,
    inferred_logits_at_loss,
)
OUTSIDE = {**DEFAULTS, "inside_forward": Const(0, source=SOURCE)}

TRL_DPO = Component(
    name="trl-dpo",
    slot=LOSS,
    terms=TRL_DPO_TERMS,
    defaults=OUTSIDE,
    limits=VOCABULARY,
    kinds={PAIRS},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer TRL's whole logits."""
    yield TRL_DPO
