"""Distillation in TRL: log-softmaxes of completions, the student's and the teacher's, and their mixture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, at, hookimpl, maths, span
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.losses.head import DEFAULTS, HEAD, head_tokens
from alignsim_plugins.losses.logits import FORMATS, completion_tokens
from alignsim_plugins.losses.slot import LOSS, VOCABULARY, WORDS

FILE = "TRL 0.19: gkd_trainer.py, compute_loss and generalized_jsd_loss; "
COUNTED = "live storages of its operations counted on the meta device, torch 2.13, at completions of 1/4 to all tokens"


@trained(live=span("forward_head", "loss", without=("forward_head", "loss")))
def logits_waiting(head_tokens: Any, vocab: Any, logit_bytes: Any) -> Any:
    """The student's logits while the teacher runs forward."""
    return head_tokens * vocab * logit_bytes


@trained(live=at("loss"))
def logits_at_loss(head_tokens: Any, completion_tokens: Any, vocab: Any, logit_bytes: Any, forward_copies: Any) -> Any:
    """The student's logits, and copies of completions: of both models, scaled, in logarithms, mixed, compared."""
    return vocab * logit_bytes * (head_tokens + forward_copies * completion_tokens)


@trained(live=span("loss", "backward_loss", without=("loss", "backward_loss")))
def logits_held(completion_tokens: Any, vocab: Any, logit_bytes: Any, held_copies: Any) -> Any:
    """What backward reads."""
    return vocab * logit_bytes * held_copies * completion_tokens


@trained(live=at("backward_loss"))
def logits_in_backward(
    head_tokens: Any,
    completion_tokens: Any,
    vocab: Any,
    logit_bytes: Any,
    conversion_bytes: Any,
    backward_copies: Any,
) -> Any:
    """The same and gradients; then the gradient of all logits beside the completions', or beside its own cast."""
    return vocab * maths.maximum(
        logit_bytes * maths.maximum(backward_copies * completion_tokens, head_tokens + completion_tokens),
        conversion_bytes * head_tokens,
    )


def _distillation(name: str, way: str, forward: float, held: float, backward: float) -> Component:
    source = f"{FILE}{way}; {COUNTED}"
    copies = {"forward_copies": forward, "held_copies": held, "backward_copies": backward}
    return Component(
        name=name,
        slot=LOSS,
        terms=(
            *HEAD,
            *FORMATS,
            head_tokens,
            completion_tokens,
            logits_waiting,
            logits_at_loss,
            logits_held,
            logits_in_backward,
        ),
        defaults={
            **DEFAULTS,
            "inside_forward": Const(0, source=source),
            **{key: Const(number, source=source) for key, number in copies.items()},
        },
        limits=VOCABULARY,
        kinds={WORDS},
        source=source,
    )


TRL_GKD = _distillation("trl-gkd", "0 < beta < 1, 0.5 is the default", 15, 7, 12)
TRL_GKD_FORWARD = _distillation("trl-gkd-forward", "beta=0, the forward KL", 7, 2, 3)
TRL_GKD_REVERSE = _distillation("trl-gkd-reverse", "beta=1, the reverse KL", 8, 3, 5)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer TRL's distillation with whole logits."""
    yield TRL_GKD
    yield TRL_GKD_FORWARD
    yield TRL_GKD_REVERSE
