"""The slot that an optimizer fills."""

from __future__ import annotations

from alignsim import Slot

OPTIMIZER = Slot(
    name="optimizer",
    promises={"optimizer_state": "byte"},
    required_for=frozenset({"train"}),
    about="what is kept for every trained parameter between steps",
)
