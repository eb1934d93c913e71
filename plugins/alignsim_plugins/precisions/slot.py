"""The slot that a number format fills."""

from __future__ import annotations

from alignsim import Slot
from alignsim.limits import SWITCH
from alignsim_plugins.elements import ELEMENT, FORMAT, MADE

PRECISION = Slot(
    name="precision",
    promises={
        "weight_bytes": "byte/parameter",
        "weight_gradient_bytes": "byte/parameter",
        "master_bytes": "byte/parameter",
        "compute_bytes": "byte",
        "residual_bytes": "byte",
        "norm_saved_bytes": "byte",
        "autocast": "",
    },
    limits={
        "weight_bytes": FORMAT,
        "weight_gradient_bytes": MADE,
        **{f"{of}_bytes": ELEMENT for of in ("compute", "residual")},
        "autocast": SWITCH,
    },
    required_for=frozenset({"train", "infer", "generate"}),
    about="formats of weights, gradients, the optimizer's copy of the weights, and of arithmetic",
)
"""What is promised:

- ``weight_bytes``: of a stored parameter;
- ``weight_gradient_bytes``: of its gradient;
- ``master_bytes``: of the copy of a trained weight that the optimizer updates, 0 if it updates the weight itself;
- ``compute_bytes``: of an operand of a matrix multiplication;
- ``residual_bytes``: of an element of the residual stream;
- ``norm_saved_bytes``: what the norms of one layer keep for backward, per token and element of the hidden width;
- ``autocast``: 1 if the forward runs under autocast and its outputs are converted to 32 bits.
"""
