"""GRPO as TRL computes it with whole logits: of completions, scaled by a temperature, entropies in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, at, hookimpl, maths, span, term
from alignsim.limits import COUNT, SWITCH
from alignsim_plugins.activations.instants import inferred, trained
from alignsim_plugins.elements import TRACES
from alignsim_plugins.losses.head import DEFAULTS, HEAD
from alignsim_plugins.losses.logits import FORMATS, completion_tokens, narrow_logits, predicted_tokens
from alignsim_plugins.losses.slot import LOSS, TOKENS, VOCABULARY

SOURCE = f"TRL 0.19: grpo_trainer.py, _get_per_token_logps_and_entropies; {TRACES}"
ENTROPY_CHUNK = Const(
    128, "token", source="TRL 0.19: trainer/utils.py, entropy_from_logits(chunk_size=128)", limit=COUNT
)


@term("token", per={"role"}, source=SOURCE)
def head_tokens(logits_to_keep: Any, completion_tokens: Any, rows: Any, tokens: Any) -> Any:
    """The completions' tokens and the one before each; all where the model takes no ``logits_to_keep``."""
    return maths.where(logits_to_keep > 0, completion_tokens + rows, tokens)


@term("token", per={"role"}, source=SOURCE)
def entropy_tokens(entropy: Any, completion_tokens: Any, entropy_chunk: Any = ENTROPY_CHUNK) -> Any:
    """Tokens of one chunk, if entropies are computed."""
    return entropy * maths.minimum(entropy_chunk, completion_tokens)


@trained(live=at("loss"))
def logits_at_loss(
    head_tokens: Any,
    completion_tokens: Any,
    entropy_tokens: Any,
    vocab: Any,
    logit_bytes: Any,
    conversion_bytes: Any,
    narrow_logits: Any,
) -> Any:
    """The logits while they are converted; then while they are scaled; then a chunk's entropy, three times its logits.

    By then the scaled ones are left, and log-softmaxes of 16-bit ones.
    """
    return vocab * maths.maximum(
        maths.maximum(conversion_bytes * head_tokens, logit_bytes * (head_tokens + completion_tokens)),
        logit_bytes * ((1 + narrow_logits) * completion_tokens + 3 * entropy_tokens),
    )


@trained(live=span("loss", "backward_loss", without=("loss", "backward_loss")))
def logits_held(completion_tokens: Any, vocab: Any, logit_bytes: Any) -> Any:
    """The scaled logits; log-softmaxes in their place where they are 16-bit."""
    return completion_tokens * vocab * logit_bytes


@trained(live=at("backward_loss"))
def logits_in_backward(
    head_tokens: Any,
    completion_tokens: Any,
    predicted_tokens: Any,
    logits_to_keep: Any,
    vocab: Any,
    logit_bytes: Any,
    narrow_logits: Any,
) -> Any:
    """16-bit: gradients of all logits and of those that are scaled. Else the same, or all three of the completions'."""
    return (
        vocab
        * logit_bytes
        * maths.where(
            narrow_logits > 0,
            head_tokens + maths.where(logits_to_keep > 0, completion_tokens, predicted_tokens),
            maths.maximum(3 * completion_tokens, 2 * head_tokens),
        )
    )


@inferred(live=at("loss"))
def inferred_logits_at_loss(
    head_tokens: Any,
    completion_tokens: Any,
    rows: Any,
    vocab: Any,
    logit_bytes: Any,
    conversion_bytes: Any,
    narrow_logits: Any,
) -> Any:
    """The logits while they are converted, or scaled; then with two rows' log-softmaxes at once."""
    return vocab * maths.maximum(
        maths.maximum(conversion_bytes * head_tokens, logit_bytes * (head_tokens + completion_tokens)),
        narrow_logits * logit_bytes * completion_tokens * (1 + 2 / rows),
    )


TRL_GRPO = Component(
    name="trl-grpo",
    slot=LOSS,
    terms=(
        *HEAD,
        *FORMATS,
        narrow_logits,
        head_tokens,
        entropy_tokens,
        completion_tokens,
        predicted_tokens,
        logits_at_loss,
        logits_held,
        logits_in_backward,
        inferred_logits_at_loss,
    ),
    defaults={
        **DEFAULTS,
        "inside_forward": Const(0, source=SOURCE),
        "logits_to_keep": Const(
            1, source="transformers 5.24: every causal language model takes it; 0 to have all", limit=SWITCH
        ),
        "entropy": Const(1, source="TRL 0.19: entropies are logged; 0 to leave them out", limit=SWITCH),
    },
    limits=VOCABULARY,
    kinds={TOKENS},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer TRL's whole logits of completions."""
    yield TRL_GRPO
