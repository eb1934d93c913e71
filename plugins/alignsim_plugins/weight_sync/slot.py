"""The slot that says how weights are handed over."""

from __future__ import annotations

from alignsim import Slot

WEIGHT_SYNC = Slot(
    name="weight_sync",
    promises={"sync_buffers": "byte"},
    counts=frozenset({"sync_buffers"}),
    required_for=frozenset({"sync"}),
    about="how weights are handed to a rollout engine",
)
"""What is promised:

- ``sync_buffers``: what a role holds for it, beside the weights.
"""
