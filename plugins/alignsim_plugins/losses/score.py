"""A scalar head: one number a token, for reward models, critics and value heads.

Of a model that keeps its vocabulary's head beside it, as TRL's AutoModelForCausalLMWithValueHead does, nothing is
multiplied by that head here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, term
from alignsim_plugins.elements import TRACES
from alignsim_plugins.losses.head import DEFAULTS, INPUT, head_tokens
from alignsim_plugins.losses.slot import LOSS, VALUES

SOURCE = f"transformers 5.24: AutoModelForSequenceClassification, score; {TRACES}"


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def late_gradients(embedding_matrix: Any) -> Any:
    """The embedding's gradient: a scalar head is never tied to it."""
    return embedding_matrix


SCORE_TERMS = (*INPUT, head_tokens, late_gradients)
SCORE_DEFAULTS = {
    **DEFAULTS,
    "inside_forward": Const(0, source=SOURCE),
    "head_matrix": Const(0, "parameter", source="one row: nothing beside a matrix"),
    "head_gradient": Const(0, "byte", source="one row: nothing beside a matrix"),
    "tied_gradient_copies": Const(0, source="a scalar head is not tied"),
}

SCORE = Component(
    name="score",
    slot=LOSS,
    terms=SCORE_TERMS,
    defaults=SCORE_DEFAULTS,
    kinds={VALUES},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer the scalar head."""
    yield SCORE
