"""The slot that an engine fills."""

from __future__ import annotations

from alignsim import Slot

ENGINE = Slot(
    name="engine",
    promises={"model_parallel_devices": "device"},
    required_for=frozenset({"train", "infer", "generate"}),
    about="how weights, gradients and optimizer state are spread over devices",
)
"""What is promised:

- ``model_parallel_devices``: devices that hold one copy of a model together.
"""
