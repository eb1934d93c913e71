"""AdamW of bitsandbytes, its two moments in 8 bits, in memory that host and device share."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, hookimpl
from alignsim_plugins.optimizers.eight_bit import eight_bit

PAGED_ADAMW_8BIT = eight_bit("paged-adamw-8bit", 2, paged=True)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer AdamW with paged moments in 8 bits."""
    yield PAGED_ADAMW_8BIT
