"""What libraries keep as scratch memory, which the allocator hands them once and never gets back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Algorithm, Const, Term, hookimpl, term
from alignsim_plugins.fixed_costs.switch import COUNTED

CUBLAS = "PyTorch, aten/src/ATen/cuda/CublasHandlePool.cpp"
UNKNOWN = Const(
    "8320 KiB",
    "byte",
    low="8320 KiB",
    high="64 MiB",
    source=f"{CUBLAS}: one handle and stream before Hopper; high: cuBLAS and cuBLASLt on Hopper",
)
"""Of the mathematics library, where the accelerator does not say."""


@term("byte", per={"process"}, resource="reserved", source=f"{CUBLAS}: a workspace for each handle and stream, kept")
def library_workspaces(library_workspace: Any = UNKNOWN, fixed_costs: Any = COUNTED) -> Any:
    """Workspaces of cuBLAS and cuBLASLt; those of attention and convolution kernels are freed like tensors."""
    return fixed_costs * library_workspace


@hookimpl
def alignsim_terms(algorithm: Algorithm) -> Iterator[Term]:
    """Offer workspaces to every algorithm."""
    yield library_workspaces
