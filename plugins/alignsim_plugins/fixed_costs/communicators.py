"""What communication takes: buffers of every communicator of more than one rank."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Algorithm, Collect, Const, Term, hookimpl, term
from alignsim_plugins.fixed_costs.switch import COUNTED

SOURCE = "torch.distributed: a communicator is made for a group of ranks when it first communicates"
UNKNOWN = Const(
    "392 MiB",
    "byte",
    low="342 MiB",
    high="688 MiB",
    source="taken to be as NCCL's: aiconfigurator-core 0.12.0 (NVIDIA), nccl_mem of systems/*.yaml; high: "
    "NVIDIA/nccl#964",
)
"""Of one communicator, where the accelerator does not say."""


@term("", per={"role"}, group="communicators", source=SOURCE)
def communicators(tensor: Any, pipeline: Any, data: Any) -> Any:
    """One for every way in which the model is divided over several ranks, and one of all ranks if those are several."""
    return (tensor > 1) + (pipeline > 1) + (data > 1) + ((tensor > 1) + (pipeline > 1) + (data > 1) > 1)


@term("byte", per={"process"}, resource="device", source=f"{SOURCE}; roles of a process share its groups")
def communication_buffers(
    most: Any = Collect("communicators", "max"), communicator_memory: Any = UNKNOWN, fixed_costs: Any = COUNTED
) -> Any:
    """Buffers of the communicators of one process."""
    return fixed_costs * most * communicator_memory


@hookimpl
def alignsim_terms(algorithm: Algorithm) -> Iterator[Term]:
    """Offer communicators to every algorithm."""
    yield from (communicators, communication_buffers)
