"""Memory of one device, in three figures: what tensors take, what allocators reserve, and all that is in use.

A term says which of them it enters: ``allocated`` for tensors, ``reserved`` for what an allocator holds besides, and
``device`` for what no allocator knows of, such as a driver's context. Each figure rests on the one before it.
"""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Resource, hookimpl
from alignsim_plugins.fixed_costs.fragmentation import fragmentation

ALLOCATED = Resource(
    name="allocated", unit="byte", about="live tensors on one device: the largest, over all instants, of what they take"
)
RESERVED = Resource(
    name="reserved",
    unit="byte",
    includes="allocated",
    kept=True,
    overhead=fragmentation,
    about="what the allocators of one device hold: of each process the most since it last gave memory back, and what "
    "fragments of it",
)
DEVICE_MEMORY = Resource(
    name="device",
    unit="byte",
    includes="reserved",
    capacity=("usable_memory", "total_memory"),
    about="all that is in use on one device, as nvidia-smi shows it: what allocators hold, contexts and communicators",
)


@hookimpl
def alignsim_resources() -> Iterator[Resource]:
    """Offer the three figures."""
    yield from (ALLOCATED, RESERVED, DEVICE_MEMORY)
