"""What a run computes on: accelerators, the nodes that hold them, and clusters of nodes. No formula lives here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from alignsim.errors import InvalidInput, Problem, UnknownName
from alignsim.frozen import FrozenDict, frozen
from alignsim.given import (
    Given,
    Inputs,
    above,
    as_bandwidth,
    as_bytes,
    as_count,
    as_power,
    as_rate,
    at_least,
    described,
)

COUNTED = re.compile(r"(?P<count>[+-]?[\d_,]+)\s*[x×*]\s*(?P<name>.*)")


# Named functions, as type checkers of attrs classes want their converters.
def maybe_bytes(value: Any) -> Given | None:
    """Return an amount of memory, or None where none is known."""
    return None if value is None else as_bytes(value)


def maybe_bandwidth(value: Any) -> Given | None:
    """Return bytes per second, or None where nothing is known."""
    return None if value is None else as_bandwidth(value)


def maybe_power(value: Any) -> Given | None:
    """Return watts, or None where nothing is known."""
    return None if value is None else as_power(value)


def as_text(value: Any) -> str:
    """Return a text that is not blank, with its outer spaces off."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"expected a text that is not blank, got {value!r}")
    return value.strip()


def as_names(value: Any) -> tuple[str, ...]:
    """Return names as a tuple; a single text is refused, since it would fall apart into letters."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(f"expected a list of names, such as ['{value}'], got {value!r}")
    return tuple(as_text(name) for name in value)


def as_rates(value: Any) -> Mapping[str, Given]:
    """Return dense rates by data type, such as ``{"bf16": "989 Tflop/s"}``; all that are wrong are reported."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"expected rates by data type, such as {{'bf16': '989 Tflop/s'}}, got {value!r}")
    rates: dict[str, Given] = {}
    wrong: list[str] = []
    for dtype, rate in value.items():
        try:
            rates[as_text(dtype)] = as_rate(rate)
        except InvalidInput as error:
            wrong += [f"{dtype}: {problem.message}" for problem in error.problems]
    wrong += [f"{dtype}: must be more than 0, got {rate.value:g}" for dtype, rate in rates.items() if rate.value <= 0]
    if wrong:
        raise InvalidInput("; ".join(wrong))
    return frozen(rates)


def a(kind: type[Any]) -> Callable[[Any, Any, Any], None]:
    """Return an attrs validator for objects of ``kind``."""

    def check(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
        if not isinstance(value, kind):
            raise InvalidInput(Problem(field.name, f"expected an object of {kind.__name__}, got {value!r}"))

    return check


@described
@attrs.frozen(kw_only=True)
class Hardware(Inputs):
    """Base of what is described here: each number that names no source of its own takes the one of its owner."""

    def __attrs_post_init__(self) -> None:
        for field in attrs.fields(type(self)):
            source = self.sources.get(field.name, self.source)
            value = getattr(self, field.name)
            if isinstance(value, Given):
                object.__setattr__(self, field.name, sourced(value, source))
            elif field.name == "flop_rates":
                rates = {dtype: sourced(rate, source) for dtype, rate in value.items()}
                object.__setattr__(self, field.name, rates)


def sourced(number: Given, source: str) -> Given:
    """Return ``number`` with ``source``, unless it has one already."""
    return number if number.source != "user" else attrs.evolve(number, source=source)


@described
@attrs.frozen(kw_only=True)
class Accelerator(Hardware):
    """One device with memory of its own, as a run sees it.

    Numbers are texts with a unit (``"94 GiB"``, ``"4 TB/s"``; GB is 10^9 and GiB 2^30 bytes) or a
    :class:`~alignsim.given.Given` where a range or an own source is known. None means that nobody has stated it.

    Attributes:
        name: the one name it has everywhere, e.g. ``H100-SXM5-80GB``.
        vendor: who makes it.
        aliases: other names that mean it, such as the name that its driver reports.
        label: the memory as written on the box, e.g. ``80 GB``. Nothing is computed from it.
        total_memory: bytes that its driver reports as its memory.
        usable_memory: bytes that a framework can use, all its processes together; ``low`` is the least over driver
            versions, the value what is typical. Contexts, communicators and workspaces are not yet taken off.
        memory_bandwidth: bytes per second, reads and writes together.
        flop_rates: dense (not sparse) floating-point operations per second, by data type.
        link_bandwidth: bytes per second to the other accelerators of its node, in one direction, all links together.
        power: watts that it may draw.
        context_memory: bytes that each process takes for its driver context and its kernels.
        communicator_memory: bytes that a process takes for each communicator of more than one rank.
        allocation_granularity: bytes in which memory is taken: ``low`` is what a single tensor is rounded up to, the
            value the segment asked of the device, ``high`` the largest segment that small tensors share.
        library_workspace: bytes that the mathematics library keeps for each process as scratch memory.
        note: what else one should know.

    Raises:
        InvalidInput: every field that is wrong, by name: no unit, another dimension, not above zero, unknown,
            missing; neither total nor usable memory; more usable than total memory.

    >>> Accelerator(name="Acme-X1", vendor="Acme", usable_memory="94 GiB", source="Acme X1 brief").least_memory
    100931731456.0
    """

    name: str = attrs.field(converter=as_text)
    vendor: str = attrs.field(converter=as_text)
    aliases: tuple[str, ...] = attrs.field(default=(), converter=as_names)
    label: str = ""
    total_memory: Given | None = attrs.field(default=None, converter=maybe_bytes, validator=above(0))
    usable_memory: Given | None = attrs.field(default=None, converter=maybe_bytes, validator=above(0))
    memory_bandwidth: Given | None = attrs.field(default=None, converter=maybe_bandwidth, validator=above(0))
    flop_rates: Mapping[str, Given] = attrs.field(factory=FrozenDict, converter=as_rates)
    link_bandwidth: Given | None = attrs.field(default=None, converter=maybe_bandwidth, validator=above(0))
    power: Given | None = attrs.field(default=None, converter=maybe_power, validator=above(0))
    context_memory: Given | None = attrs.field(default=None, converter=maybe_bytes, validator=at_least(0))
    communicator_memory: Given | None = attrs.field(default=None, converter=maybe_bytes, validator=at_least(0))
    allocation_granularity: Given | None = attrs.field(default=None, converter=maybe_bytes, validator=above(0))
    library_workspace: Given | None = attrs.field(default=None, converter=maybe_bytes, validator=at_least(0))
    note: str = ""

    @property
    def least_memory(self) -> float | None:
        """Bytes that are usable whatever the driver: what a verdict of *fits* is held against. None: unknown."""
        return None if self.usable_memory is None else self.usable_memory.at("low")

    def flop_rate(self, dtype: str) -> Given:
        """Return the dense rate in ``dtype``.

        Raises:
            UnknownName: no rate in that data type is known.
        """
        if dtype not in self.flop_rates:
            raise UnknownName(f"rate of {self.name}", dtype, self.flop_rates)
        return self.flop_rates[dtype]

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with several fields together."""
        total, usable = self.total_memory, self.usable_memory
        if total is None and usable is None:
            yield Problem("usable_memory", "is required where total_memory is not given, e.g. '79.1 GiB'")
        elif total is not None and usable is not None and usable.at("high") > total.value:
            most = f"must be at most total_memory ({total.value:.0f} bytes)"
            yield Problem("usable_memory", f"{most}, got {usable.at('high'):.0f}")
        if self.name in self.aliases or len(set(self.aliases)) < len(self.aliases):
            yield Problem("aliases", f"must differ from the name and from each other, got {list(self.aliases)}")


@described
@attrs.frozen(kw_only=True)
class Node(Hardware):
    """One machine: accelerators of one kind, the link between them, and the memory of their host.

    Attributes:
        name: e.g. ``HGX-H100-8``.
        accelerator: what it holds.
        count: how many of them.
        link_bandwidth: bytes per second of one accelerator to the others in the node, in one direction; that of
            the accelerator unless given.
        network_bandwidth: bytes per second of one accelerator out of the node, in one direction.
        host_memory: bytes of memory of the host, for all its accelerators together.
        note: what else one should know.

    Raises:
        InvalidInput: every field that is wrong, by name.
    """

    name: str = attrs.field(converter=as_text)
    accelerator: Accelerator = attrs.field(validator=a(Accelerator))
    count: int = attrs.field(converter=as_count, validator=at_least(1))
    link_bandwidth: Given | None = attrs.field(default=None, converter=maybe_bandwidth, validator=above(0))
    network_bandwidth: Given | None = attrs.field(default=None, converter=maybe_bandwidth, validator=above(0))
    host_memory: Given | None = attrs.field(default=None, converter=maybe_bytes, validator=above(0))
    note: str = ""

    @property
    def link(self) -> Given | None:
        """The link between accelerators of the node: its own, else that of its accelerator."""
        return self.link_bandwidth or self.accelerator.link_bandwidth


@described
@attrs.frozen(kw_only=True)
class Cluster(Hardware):
    """Equal nodes and the link between them.

    Attributes:
        node: one of its machines.
        name: what a plugin offers it as; one that is made for a run needs none.
        nodes: how many of them.
        link_bandwidth: bytes per second of one accelerator to other nodes, in one direction; that of the node
            unless given.

    Raises:
        InvalidInput: every field that is wrong, by name.
    """

    node: Node = attrs.field(validator=a(Node))
    name: str = ""
    nodes: int = attrs.field(default=1, converter=as_count, validator=at_least(1))
    link_bandwidth: Given | None = attrs.field(default=None, converter=maybe_bandwidth, validator=above(0))

    @property
    def link(self) -> Given | None:
        """The link between nodes: its own, else that of its node."""
        return self.link_bandwidth or self.node.network_bandwidth

    @property
    def accelerators(self) -> int:
        """How many accelerators there are in all."""
        return self.nodes * self.node.count


def counted(text: str) -> tuple[int, str]:
    """Return how many and of what, from ``256xH100-SXM5-80GB``; a name alone is one.

    >>> counted("256xH100-SXM5-80GB"), counted("TPU-v5p")
    ((256, 'H100-SXM5-80GB'), (1, 'TPU-v5p'))

    Raises:
        InvalidInput: the count is not a whole number of at least 1, or nothing is named.
    """
    match = COUNTED.fullmatch(text.strip())
    count, name = (match["count"], match["name"].strip()) if match else ("1", text.strip())
    digits = re.sub(r"[_,]", "", count)
    if not name or name.isdecimal() or not digits.isdecimal() or int(digits) < 1:
        raise InvalidInput(f"expected a count and a name, such as '8xH100-SXM5-80GB', got {text!r}")
    return int(digits), name
