"""How much work there is at once."""

from __future__ import annotations

from typing import Any

import attrs

from alignsim.given import Inputs, as_count, at_least, described


def _maybe_count(value: Any) -> Any:
    return None if value is None else as_count(value)


@described
@attrs.frozen(kw_only=True)
class Batch(Inputs):
    """Sizes of the work of one rank. What is None is not given; a formula that needs it says so.

    Attributes:
        rollout_sequences: sequences generated together.
        rollout_tokens: tokens of each of them, prompt included.
    """

    rollout_sequences: int | None = attrs.field(default=None, converter=_maybe_count, validator=at_least(1))
    rollout_tokens: int | None = attrs.field(default=None, converter=_maybe_count, validator=at_least(0))
