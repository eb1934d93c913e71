"""AdamW of bitsandbytes, its two moments in 8 bits by blocks."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, hookimpl
from alignsim_plugins.optimizers.eight_bit import eight_bit

ADAMW_8BIT = eight_bit("adamw-8bit", 2, paged=False)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer AdamW with moments in 8 bits."""
    yield ADAMW_8BIT
