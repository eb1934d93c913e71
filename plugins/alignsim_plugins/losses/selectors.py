"""Which tokens get logits, and of which of them a loss path makes copies: a choice of two terms."""

from __future__ import annotations

from typing import Any

import attrs

from alignsim import Term, term
from alignsim_plugins.losses.head import head_tokens as every_token
from alignsim_plugins.losses.logits import completion_tokens


@attrs.frozen
class Tokens:
    """A selector.

    Attributes:
        name: how tables call it.
        terms: ``head_tokens`` and ``logit_tokens``, and what they need.
    """

    name: str
    terms: tuple[Term, ...]


@term("token", per={"role"}, source="the loss is given all logits, those of prompts and padding too")
def logit_tokens(head_tokens: Any) -> Any:
    """All tokens that have logits."""
    return head_tokens


@term("token", per={"role"}, source="the head is given only what has a loss")
def head_tokens(completion_tokens: Any) -> Any:
    """The completions' tokens."""
    return completion_tokens


ALL = Tokens("all", (every_token, logit_tokens))
COMPLETIONS = Tokens("completions", (completion_tokens, head_tokens, logit_tokens))
SELECTORS = (ALL, COMPLETIONS)
