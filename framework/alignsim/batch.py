"""How much work there is at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from alignsim.errors import Problem
from alignsim.given import Inputs, as_count, at_least, described, within
from alignsim.limits import COUNT, SIZE, Limit

POSITIONS = Limit("learned_positions", because="the model has learned so many positions, and no more", least=None)
PROMPT = Limit("sequence_tokens", because="it is a part of the sequence", least=None)


def _maybe_count(value: Any) -> Any:
    return None if value is None else as_count(value)


@described
@attrs.frozen(kw_only=True)
class Batch(Inputs):
    """Sizes of the work of one rank. What is None is not given; a formula that needs it says so.

    Attributes:
        micro_batch: samples of one forward and backward; a sample of a preference algorithm is a pair.
        sequence_tokens: tokens of one row, prompt and completion.
        prompt_tokens: tokens of the prompt among them.
        accumulation_steps: micro-batches whose gradients are added before a step.
        rollout_sequences: sequences generated together.
        rollout_tokens: tokens of each of them, prompt included.
    """

    micro_batch: int | None = attrs.field(default=None, converter=_maybe_count, validator=at_least(1))
    sequence_tokens: int | None = attrs.field(default=None, converter=_maybe_count, validator=within(COUNT, POSITIONS))
    prompt_tokens: int | None = attrs.field(default=None, converter=_maybe_count, validator=within(SIZE, PROMPT))
    accumulation_steps: int = attrs.field(default=1, converter=as_count, validator=at_least(1))
    rollout_sequences: int | None = attrs.field(default=None, converter=_maybe_count, validator=at_least(1))
    rollout_tokens: int | None = attrs.field(default=None, converter=_maybe_count, validator=within(SIZE, POSITIONS))

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with several sizes together."""
        prompt, whole = self.prompt_tokens, self.sequence_tokens
        if prompt is not None and whole is not None and prompt > whole:
            yield Problem("prompt_tokens", f"{prompt} exceeds sequence_tokens {whole}")
