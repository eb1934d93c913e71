"""Lion of bitsandbytes, its moment in 8 bits, in memory that host and device share."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, hookimpl
from alignsim_plugins.optimizers.eight_bit import eight_bit

PAGED_LION_8BIT = eight_bit("paged-lion-8bit", 1, paged=True)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer Lion with its moment paged, in 8 bits."""
    yield PAGED_LION_8BIT
