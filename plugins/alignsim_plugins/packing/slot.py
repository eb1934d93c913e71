"""The slot that says how sequences make a batch."""

from __future__ import annotations

from alignsim import Slot

PACKING = Slot(
    name="packing",
    promises={"rows": "sequence", "tokens": "token", "padded": ""},
    required_for=frozenset({"train", "infer"}),
    about="how sequences are put into a batch: rows, tokens of the forward, and whether a mask marks padding",
)
"""What is promised:

- ``rows``: of one forward;
- ``tokens``: that the layers see, padding included;
- ``padded``: 1 if a mask must hide padding from attention.
"""
