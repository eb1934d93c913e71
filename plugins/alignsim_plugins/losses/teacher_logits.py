"""The head of a teacher: all its logits are held until the student's loss has read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, at, hookimpl, span
from alignsim_plugins.activations.instants import inferred
from alignsim_plugins.losses.head import DEFAULTS, HEAD, head_tokens
from alignsim_plugins.losses.logits import FORMATS
from alignsim_plugins.losses.slot import LOSS, TEACHER, VOCABULARY

SOURCE = "TRL 0.19: gkd_trainer.py, outputs_teacher.logits, a variable until compute_loss returns"


@inferred(live=at("forward_head"))
def logits_being_converted(
    head_tokens: Any, vocab: Any, logit_bytes: Any, conversion_bytes: Any, compute_bytes: Any
) -> Any:
    """Under autocast, the logits in 32 bits beside those that the head gives."""
    return head_tokens * vocab * (conversion_bytes - compute_bytes) * (logit_bytes > compute_bytes)


@inferred(live=span("forward_head", "loss", without=("forward_head",)))
def logits_given(head_tokens: Any, vocab: Any, logit_bytes: Any) -> Any:
    """All logits, until the loss is there."""
    return head_tokens * vocab * logit_bytes


TEACHER_LOGITS = Component(
    name="teacher-logits",
    slot=LOSS,
    terms=(*HEAD, *FORMATS, head_tokens, logits_being_converted, logits_given),
    defaults={**DEFAULTS, "inside_forward": Const(0, source=SOURCE)},
    limits=VOCABULARY,
    kinds={TEACHER},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer a teacher's head."""
    yield TEACHER_LOGITS
