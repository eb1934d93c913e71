"""Memory of one device."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Resource, hookimpl

DEVICE_MEMORY = Resource(
    name="device", unit="byte", about="memory of one device: the largest, over all instants, of what is held"
)


@hookimpl
def alignsim_resources() -> Iterator[Resource]:
    """Offer the memory of a device."""
    yield DEVICE_MEMORY
