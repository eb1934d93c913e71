"""What the driver takes for each process: its context, and the kernels that it has loaded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Algorithm, Const, Term, hookimpl, term
from alignsim_plugins.fixed_costs.switch import COUNTED

UNKNOWN = Const(
    "426 MiB",
    "byte",
    low="256 MiB",
    high="1 GiB",
    source="taken to be NVIDIA's: unslothai/unsloth-zoo#1053 (RTX 6000 Ada, CUDA 13.0; low: RTX 3090, CUDA 12.8); "
    "high: before kernels were loaded lazily (CUDA 11.7), pytorch/pytorch#107667",
)
"""Of a context, where the accelerator does not say."""


@term(
    "byte",
    per={"process"},
    resource="device",
    source="CUDA C++ Programming Guide, sec. Lazy Loading: a context for each process, and the code of loaded kernels",
)
def driver_context(context_memory: Any = UNKNOWN, fixed_costs: Any = COUNTED) -> Any:
    """The driver's context of one process."""
    return fixed_costs * context_memory


@hookimpl
def alignsim_terms(algorithm: Algorithm) -> Iterator[Term]:
    """Offer the context to every algorithm."""
    yield driver_context
