"""Lion of bitsandbytes, its moment in 8 bits by blocks."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, hookimpl
from alignsim_plugins.optimizers.eight_bit import eight_bit

LION_8BIT = eight_bit("lion-8bit", 1, paged=False)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer Lion with its moment in 8 bits."""
    yield LION_8BIT
