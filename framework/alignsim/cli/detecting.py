"""``alignsim hardware detect``: the devices of this machine beside what the catalogue has of their name."""

from __future__ import annotations

from collections import Counter
from typing import Any

import attrs

from alignsim.detector import Detected
from alignsim.errors import InvalidInput, Problem, suggestion
from alignsim.hardware import Accelerator
from alignsim.registry import Registry
from alignsim.units import human
from alignsim.views.table import Table

SCHEMA = "alignsim.detected/1"
ALIKE = 0.02
"""The part of its memory by which a device may differ from the catalogue: drivers take more or less of it."""


@attrs.frozen
class Seen:
    """Equal devices of this machine: how many, what they are in the catalogue, and whether their memory agrees."""

    device: Detected
    count: int
    known: Accelerator | None

    @property
    def agrees(self) -> bool | None:
        """Whether memory is that of the catalogue; None where one of them is not known."""
        total = self.known and self.known.total_memory
        if not total or self.device.memory is None:
            return None
        return abs(self.device.memory - total.value) <= ALIKE * total.value

    def told(self, registry: Registry) -> str:
        """What to write in a run file or after ``--gpus``, or why there is nothing to write."""
        if self.known is None:
            return f"not in the catalogue; {suggestion(self.device.name, registry.accelerators)}"
        if self.agrees is False:
            return f"not {self.known.name}: its memory is another (a slice of a device?)"
        return f"--gpus {self.count}x{self.known.name}"

    def to_dict(self, registry: Registry) -> dict[str, Any]:
        """Return it as plain data."""
        known = self.known.name if self.known else None
        total = self.known.total_memory.value if self.known and self.known.total_memory else None
        told = {"catalogue": known, "catalogue_memory": total, "agrees": self.agrees, "told": self.told(registry)}
        return {**attrs.asdict(self.device), "count": self.count, **told}


def seen(registry: Registry) -> list[Seen]:
    """Return the devices of this machine, equal ones together.

    Raises:
        InvalidInput: no detector can ask, or none finds a device; each says what is missing.
    """
    found: Counter[Detected] = Counter()
    problems: list[Problem] = []
    for detector in registry.detectors.values():
        try:
            found.update(detector.detect())
        except InvalidInput as error:
            problems += error.problems
    if not found:
        raise InvalidInput(problems or "no device is here that a detector knows of")
    return [Seen(device, count, registry.accelerators.get(device.name)) for device, count in found.items()]


def seen_table(devices: list[Seen], registry: Registry) -> Table:
    """Return the devices as a table."""
    rows = []
    for each in devices:
        total = each.known.total_memory if each.known else None
        memory = "" if each.device.memory is None else human(each.device.memory, "byte")
        catalogue = human(total.value, "byte") if total else ""
        rows.append((str(each.count), each.device.name, memory, catalogue, each.device.driver, each.told(registry)))
    heading = [">count", "device", ">memory", ">in the catalogue", "driver", "write"]
    return Table.of("Devices of this machine", heading, rows)
