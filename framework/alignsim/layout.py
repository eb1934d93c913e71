"""How a model is spread over devices, and where every role lives."""

from __future__ import annotations

from typing import Any

import attrs

from alignsim.errors import InvalidInput
from alignsim.given import Inputs, as_count, at_least, described


@described
@attrs.frozen(kw_only=True)
class Layout(Inputs):
    """Degrees of parallelism of one model.

    Attributes:
        tensor: ranks that share every layer's matrices.
        pipeline: stages that the layers are dealt out to.
        data: replicas that see different samples.
        sequence: ranks that share the tokens of every sequence, and the heads in attention (Ulysses).
    """

    tensor: int = attrs.field(default=1, converter=as_count, validator=at_least(1))
    pipeline: int = attrs.field(default=1, converter=as_count, validator=at_least(1))
    data: int = attrs.field(default=1, converter=as_count, validator=at_least(1))
    sequence: int = attrs.field(default=1, converter=as_count, validator=at_least(1))

    @property
    def devices(self) -> int:
        """All devices that run the model."""
        return self.tensor * self.pipeline * self.data * self.sequence


def _as_word(value: Any) -> str:
    if not isinstance(value, str) or not value.isidentifier():
        raise InvalidInput(f"processes and pools are spelt with letters, digits and _; got {value!r}")
    return value


@attrs.frozen
class Place:
    """Where a role lives: the operating-system process that it shares, and the pool of devices.

    Contexts, communicators and allocators are per process; every pool has its own devices and verdict.

    Attributes:
        process: the operating-system process that it shares with the other roles that name it.
        pool: the devices that it shares with the other roles that name them.
    """

    process: str = attrs.field(default="trainer", converter=_as_word)
    pool: str = attrs.field(default="gpus", converter=_as_word)
