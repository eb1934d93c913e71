"""The slot that says what is recomputed."""

from __future__ import annotations

from alignsim import Slot

RECOMPUTE = Slot(
    name="recompute",
    promises={"recomputes": "", "saved_activations": "byte"},
    required_for=frozenset({"train"}),
    about="what the layers keep between forward and backward, and what is computed again instead",
)
"""What is promised:

- ``recomputes``: 1 if a layer's activations are computed again in its backward;
- ``saved_activations``: what all layers keep between forward and backward.
"""
