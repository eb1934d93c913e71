"""The slot that an optimizer fills."""

from __future__ import annotations

from alignsim import Slot

OPTIMIZER = Slot(
    name="optimizer",
    promises={"optimizer_state": "byte", "step_memory": "byte"},
    counts=frozenset({"optimizer_state"}),
    required_for=frozenset({"train"}),
    about="what is kept for every trained parameter between steps, and what a step needs beside it",
)
"""What is promised:

- ``optimizer_state``: of the whole model, between steps;
- ``step_memory``: temporaries of one step, beside gradients and state.
"""
