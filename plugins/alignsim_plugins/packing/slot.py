"""The slot that says how sequences make a batch."""

from __future__ import annotations

from alignsim import Slot
from alignsim.limits import SWITCH

PACKING = Slot(
    name="packing",
    promises={"rows": "sequence", "tokens": "token", "row_tokens": "token", "padded": "", "packed": ""},
    limits={"padded": SWITCH, "packed": SWITCH},
    required_for=frozenset({"train", "infer"}),
    about="how sequences are put into a batch: rows, tokens of the forward, and whether a mask marks padding",
)
"""What is promised:

- ``rows``: sequences of one forward;
- ``tokens``: that the layers see, padding included;
- ``row_tokens``: of one row, as attention sees it: all of them where sequences are put end to end;
- ``padded``: 1 if a mask must hide padding from attention;
- ``packed``: 1 if a row holds several sequences, which must not see each other.
"""
