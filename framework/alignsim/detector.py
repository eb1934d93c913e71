"""A detector says which devices this machine has, as their driver reports them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs


@attrs.frozen
class Detected:
    """One device of this machine.

    Attributes:
        name: as its driver reports it.
        memory: bytes that its driver reports as its memory; None where it does not say.
        driver: the version of the driver.
    """

    name: str
    memory: int | None = None
    driver: str = ""


@attrs.frozen(kw_only=True)
class Detector:
    """Looks for devices of one kind.

    Attributes:
        name: what it asks.
        detect: returns the devices; it raises :class:`InvalidInput` where it cannot ask, and says what is missing.
        about: one line for people.
    """

    name: str
    detect: Callable[[], Sequence[Detected]]
    about: str = ""
