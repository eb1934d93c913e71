"""Adafactor: second moments of a matrix as one value a row and one a column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, term
from alignsim_plugins.elements import FP32
from alignsim_plugins.optimizers.slot import OPTIMIZER

SOURCE = "Shazeer and Stern 2018, algorithm 4; transformers 5.24: optimization.py, Adafactor without first moment"


@term("byte", per={"role"}, during={"train"}, group="model_state", source=SOURCE)
def optimizer_state(trained_edges: Any, trained_vectors: Any, fp32: Any = FP32) -> Any:
    """Rows and columns of matrices, and vectors whole, in 32 bits."""
    return (trained_edges + trained_vectors) * fp32


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def step_memory(largest_trained: Any, moment_bytes: Any, fp32: Any = FP32) -> Any:
    """Two temporaries of the largest tensor in 32 bits, and such copies of its gradient and of itself if narrower."""
    return largest_trained * fp32 * (2 + 2 * (moment_bytes < fp32))


ADAFACTOR = Component(name="adafactor", slot=OPTIMIZER, terms=(optimizer_state, step_memory), source=SOURCE)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer Adafactor."""
    yield ADAFACTOR
