"""The slot that says what is recomputed."""

from __future__ import annotations

from alignsim import Slot
from alignsim.limits import SHARE, SWITCH

RECOMPUTE = Slot(
    name="recompute",
    promises={
        "recomputes": "",
        "recomputes_last": "",
        "recomputed_share": "",
        "recomputes_core": "",
        "reaches_inputs": "",
        "saved_activations": "byte",
    },
    limits={
        **dict.fromkeys(("recomputes", "recomputes_last", "recomputes_core"), SWITCH),
        "recomputed_share": SHARE,
    },
    required_for=frozenset({"train"}),
    about="what the layers keep between forward and backward, and what is computed again instead",
)
"""What is promised:

- ``recomputes``: 1 if the first layer's activations are computed again in its backward;
- ``recomputes_last``: 1 if the last layer's are;
- ``recomputed_share``: of the layers that backward reaches, those that are;
- ``recomputes_core``: 1 if every layer keeps query, key, value and output, and computes its attention again;
- ``reaches_inputs``: 1 if the embedding's output is made to need a gradient, so that backward goes through all layers;
- ``saved_activations``: what all layers keep between forward and backward.
"""
