"""Data files of hardware: one TOML file a thing, each number with its source and how it was obtained.

A number is a table of its own::

    [usable_memory]
    value = "81089 MiB"  # typical; the range is optional
    low = "80998 MiB"
    source = "torch, total_memory of its device properties"
    obtained = "measured"  # or vendor, or inferred

A folder is one vendor's. Its ``_vendor.toml`` holds what all files of the folder share, unless a file says otherwise.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

import attrs

from alignsim.errors import InvalidInput, Origin, Problem, suggestion
from alignsim.given import Given
from alignsim.hardware import Accelerator, Node
from alignsim_hardware.quantities import in_base_units

OBTAINED = ("vendor", "measured", "inferred")
PARTS = ("value", "low", "high", "source", "obtained")
UNITS = {
    "total_memory": "byte",
    "usable_memory": "byte",
    "memory_bandwidth": "byte/s",
    "link_bandwidth": "byte/s",
    "network_bandwidth": "byte/s",
    "power": "watt",
    "context_memory": "byte",
    "communicator_memory": "byte",
    "allocation_granularity": "byte",
    "library_workspace": "byte",
    "host_memory": "byte",
}
SHARED = "_vendor.toml"
T = TypeVar("T", Accelerator, Node)


@attrs.frozen
class Page:
    """One file as read: its values, and the line of each."""

    file: str
    values: Mapping[str, Any]
    lines: Mapping[str, int]

    @classmethod
    def of(cls, text: str, file: str) -> Page:
        """Return the page of a text; ``InvalidInput`` where it is no TOML."""
        try:
            return cls(file, tomllib.loads(text), dict(_lines(text)))
        except tomllib.TOMLDecodeError as error:
            raise InvalidInput(Problem("", f"is no TOML: {error}", Origin(file))) from None

    def origin(self, path: str) -> Origin:
        """Return where ``path`` (``usable_memory.low``) stands: its line, or that of what it is part of."""
        while path and path not in self.lines:
            path = path.rpartition(".")[0]
        return Origin(self.file, self.lines.get(path))

    def problem(self, path: str, message: str) -> Problem:
        """Return a problem at ``path``."""
        return Problem(path, message, self.origin(path))


def accelerator(text: str, file: str, shared: Page | None = None) -> Accelerator:
    """Return the accelerator of a file; ``shared`` holds what its vendor's files have in common.

    Raises:
        InvalidInput: all that is wrong in the file, each with its file and line.
    """
    return _made(Accelerator, Page.of(text, file), shared, {})


def node(text: str, file: str, accelerators: Mapping[str, Accelerator]) -> Node:
    """Return the node of a file, whose ``accelerator`` is one of ``accelerators`` by name.

    Raises:
        InvalidInput: all that is wrong in the file, each with its file and line.
    """
    page = Page.of(text, file)
    name = str(page.values.get("accelerator", ""))
    if name not in accelerators:
        hint = suggestion(name, accelerators)
        raise InvalidInput(page.problem("accelerator", f"no accelerator is named {name!r}; {hint}"))
    return _made(Node, page, None, {"accelerator": accelerators[name]})


def accelerators_in(folder: Traversable) -> Iterator[Accelerator]:
    """Yield the accelerators of the files in one vendor's folder, by file name."""
    pages = {entry.name: entry for entry in folder.iterdir() if entry.name.endswith(".toml")}
    common = pages.pop(SHARED, None)
    shared = Page.of(common.read_text("utf-8"), f"{folder.name}/{SHARED}") if common else None
    for name in sorted(pages):
        yield accelerator(pages[name].read_text("utf-8"), f"{folder.name}/{name}", shared)


def _made(kind: type[T], page: Page, shared: Page | None, ready: Mapping[str, Any]) -> T:
    values: dict[str, Any] = {"source": f"alignsim hardware catalogue, {page.file}"}
    problems: list[Problem] = []
    for origin in (shared, page):
        if origin is not None:
            values |= _values(origin, problems)
    if not problems:
        try:
            return kind(**(values | dict(ready)))
        except InvalidInput as error:
            for found in error.problems:
                path = found.field.removeprefix(f"{kind.__name__}.")
                owner = page if shared is None or path in page.lines or path not in shared.lines else shared
                problems.append(owner.problem(path, found.message))
    raise InvalidInput(problems)


def _values(page: Page, problems: list[Problem]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in page.values.items():
        if name == "flop_rates" and isinstance(value, Mapping):
            rates = {dtype: _number(page, f"{name}.{dtype}", rate, "flop/s", problems) for dtype, rate in value.items()}
            values[name] = {dtype: rate for dtype, rate in rates.items() if rate is not None}
        elif name in UNITS:
            values[name] = _number(page, name, value, UNITS[name], problems)
        else:
            values[name] = value
    return values


def _number(page: Page, path: str, table: Any, unit: str, problems: list[Problem]) -> Given | None:
    """Return one number; what is wrong with it goes to ``problems``."""
    if not isinstance(table, Mapping):
        problems.append(page.problem(path, f"expected a table of {', '.join(PARTS)}, got {table!r}"))
        return None
    before = len(problems)
    unknown = [part for part in table if part not in PARTS]
    problems += [page.problem(f"{path}.{part}", f"no such part; {suggestion(part, PARTS)}") for part in unknown]
    if not isinstance(table.get("source"), str) or not table["source"].strip():
        problems.append(page.problem(path, "needs a source: where the number is from"))
    if table.get("obtained") not in OBTAINED:
        problems.append(page.problem(path, f"obtained must be one of {OBTAINED}, got {table.get('obtained')!r}"))
    if "value" not in table:
        problems.append(page.problem(path, "needs a value"))
    ends: dict[str, float] = {}
    for end in ("low", "value", "high"):
        if end in table:
            try:
                ends[end] = in_base_units(table[end], unit)
            except InvalidInput as error:
                problems += [page.problem(f"{path}.{end}", problem.message) for problem in error.problems]
    if list(ends.values()) != sorted(ends.values()):
        problems.append(page.problem(path, f"low <= value <= high does not hold: {list(ends.values())}"))
    if problems[before:]:
        return None
    return Given(
        ends["value"],
        unit,
        ends.get("low"),
        ends.get("high"),
        source=table["source"],
        obtained=table["obtained"],
        origin=page.origin(path),
    )


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """Yield the path of each table and key with its line."""
    header = ""
    for line, content in enumerate(text.splitlines(), start=1):
        if table := re.fullmatch(r"\s*\[([\w.\-\s]+)\]\s*(?:#.*)?", content):
            header = table[1].strip()
            yield header, line
        elif key := re.match(r"\s*([\w\-]+)\s*=", content):
            yield f"{header}.{key[1]}" if header else key[1], line
