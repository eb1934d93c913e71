"""What ``--gpus 256xH100-SXM5-80GB`` means: which device, how much of its memory, and how many replicas."""

from __future__ import annotations

import attrs

from alignsim.errors import InvalidInput, Problem
from alignsim.given import Given
from alignsim.hardware import Accelerator, Cluster, counted
from alignsim.registry import Registry


@attrs.frozen
class Devices:
    """So many devices of one kind, and the share of a host's memory that each has, where that is known."""

    count: int
    accelerator: Accelerator
    host_memory: Given | None = None

    @classmethod
    def read(cls, text: str, registry: Registry) -> Devices:
        """Return the devices that a text such as ``8xH100-SXM5-80GB`` or ``2xHGX-H100-8`` names.

        Raises:
            InvalidInput: it is not a count and a name.
            UnknownName: no such accelerator.
        """
        try:
            count, name = counted(text)
        except InvalidInput as error:
            raise error.inside("--gpus") from None
        if name not in registry.accelerators and name in registry.nodes:
            machine = registry.nodes[name]
            node = machine.node if isinstance(machine, Cluster) else machine
            each = machine.accelerators if isinstance(machine, Cluster) else machine.count
            host = node.host_memory
            share = None if host is None else Given(host.value / node.count, "byte", source=host.source)
            return cls(count * each, node.accelerator, share)
        return cls(count, registry.accelerators[name])

    @property
    def givens(self) -> dict[str, Given]:
        """What the devices say that an accelerator does not, by path."""
        return {} if self.host_memory is None else {"@gpus.host_memory_per_rank": self.host_memory}

    @property
    def memory(self) -> Given | None:
        """The memory to count with: what is usable whatever the driver, else what is usable, else the total."""
        device = self.accelerator
        known = device.usable_memory or device.total_memory
        if known is None:
            return None
        which = "usable memory" if device.usable_memory else "total memory, since its usable memory is not known"
        least = "least " if device.usable_memory and known.low is not None else ""
        return Given(known.at("low"), "byte", source=f"{least}{which} of {device.name}: {known.source}")

    def replicas(
        self, tensor: int = 1, pipeline: int = 1, sequence: int = 1, context: int = 1, data: int | None = None
    ) -> int:
        """Return how many replicas of a model the devices hold.

        Raises:
            InvalidInput: they are not a whole number of replicas, or not as many as ``data`` says.
        """
        one = tensor * pipeline * sequence * context
        others = {"sequence": sequence, "context": context}
        told = f"tensor {tensor} x pipeline {pipeline}"
        told += "".join(f" x {name} {degree}" for name, degree in others.items() if degree > 1)
        if data is not None and one * data != self.count:
            layout = f"{told} x data {data} = {one * data} devices"
            raise InvalidInput(Problem("--gpus", f"{self.count} devices are named, but the layout has {layout}"))
        if self.count % one:
            message = f"{self.count} devices are not a whole number of replicas of {told} = {one} devices each"
            raise InvalidInput(Problem("--gpus", f"{message}; name a multiple of {one}, or change the degrees"))
        return self.count // one
