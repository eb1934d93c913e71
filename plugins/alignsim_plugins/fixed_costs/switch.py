"""One number that switches all fixed costs off."""

from __future__ import annotations

from alignsim import Const

COUNTED = Const(
    1, source="fixed costs are counted; 0 leaves them all out, so that reserved and device memory are tensors'"
)
"""Of ``fixed_costs``."""
