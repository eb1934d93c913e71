"""The slot that an attention kernel fills."""

from __future__ import annotations

from alignsim import Limit, Slot

ALL_HEADS = Limit(1, because="every rank attends with all heads to its own tokens; choose attention 'ulysses-flash'")
"""Of a layout: tokens of a sequence are not on other ranks."""

ATTENTION = Slot(
    name="attention",
    promises={
        "attention_saved": "byte/token",
        "attention_forward_work": "byte/token",
        "attention_backward_work": "byte/token",
        "attention_mask": "byte",
        "forward_mask": "byte",
    },
    required_for=frozenset({"train", "infer"}),
    about="the attention kernel: what it keeps for backward, and what its forward and backward need beside that",
)
"""What is promised:

- ``attention_saved``: kept for backward, per token and layer;
- ``attention_forward_work``: live within a forward at the kernel's worst instant;
- ``attention_backward_work``: live within a layer's backward at its worst instant, 0 if scores are never whole;
- ``attention_mask``: of one batch, while a forward runs;
- ``forward_mask``: the part of it that is still there when a loss inside the model's forward is computed.
"""
