"""The slot that a number format fills."""

from __future__ import annotations

from alignsim import Slot

PRECISION = Slot(
    name="precision",
    promises=dict.fromkeys(("weight_bytes", "gradient_bytes", "master_bytes"), "byte/parameter"),
    required_for=frozenset({"train", "infer", "generate"}),
    about="number formats of weights, gradients and the optimizer's own copy of the weights",
)
