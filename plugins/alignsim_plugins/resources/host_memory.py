"""Memory of the host, as one rank uses it."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Resource, hookimpl

HOST_MEMORY = Resource(
    name="host",
    unit="byte",
    capacity=("host_memory_per_rank",),
    about="memory of the host for one rank: the largest, over all instants, of what is held",
)


@hookimpl
def alignsim_resources() -> Iterator[Resource]:
    """Offer the memory of the host."""
    yield HOST_MEMORY
