"""Data from a file, read field by field: whatever is wrong with it is told with its place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import attrs

from alignsim.errors import InvalidInput, Origin, Problem, suggestion


def read_json(path: str | Path) -> Any:
    """Return the content of a JSON file.

    Raises:
        InvalidInput: no such file, no text, no JSON, a name twice in one object, or a number that is not finite; with
            the line and column, or the place within the data.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(Problem("", f"cannot be read: {error.strerror or error}", Origin(str(path)))) from None
    except UnicodeDecodeError as error:
        raise InvalidInput(Problem("", f"is not UTF-8 text: {error.reason}", Origin(str(path)))) from None
    twice: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        twice.extend(name for name in found if len(found) < len(pairs) and [p[0] for p in pairs].count(name) > 1)
        return found

    try:
        content = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        where = Origin(str(path), error.lineno, error.colno)
        raise InvalidInput(Problem("", f"is not JSON: {error.msg}", where)) from None
    except (RecursionError, ValueError) as error:  # nested too deep, or a whole number of thousands of digits
        raise InvalidInput(Problem("", f"is not JSON that can be read: {error}", Origin(str(path)))) from None
    problems = [Problem("", f"has {name!r} twice in one object", Origin(str(path))) for name in dict.fromkeys(twice)]
    problems += [Problem(place, f"{value!r} is not a number", Origin(str(path))) for place, value in _strange(content)]
    if problems:
        raise InvalidInput(problems)
    return content


def _strange(content: Any) -> Iterator[tuple[str, float]]:
    pending: list[tuple[str, Any]] = [("", content)]
    while pending:
        place, value = pending.pop()
        if isinstance(value, dict):
            pending += [(f"{place}.{name}".lstrip("."), item) for name, item in value.items()]
        elif isinstance(value, list):
            pending += [(f"{place}[{index}]", item) for index, item in enumerate(value)]
        elif isinstance(value, float) and not isfinite(value):
            yield place, value


@attrs.frozen
class Fields:
    """One object of a file, and its place in it. Each method returns a field, or says what is wrong with it.

    >>> row = Fields({"batch": 2, "model": "Llama-2-7B"}, "rows[0]")
    >>> row.number("batch"), row.text("model")
    (2, 'Llama-2-7B')
    >>> row.number("seq")
    Traceback (most recent call last):
    alignsim.errors.InvalidInput: rows[0].seq: is required
    """

    data: Any
    place: str = ""

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.data, Mapping):
            raise InvalidInput(Problem(self.place, f"expected an object with names, got {_short(self.data)}"))

    def at(self, name: str) -> str:
        """Return the place of a field."""
        return f"{self.place}.{name}" if self.place else name

    def wrong(self, name: str, message: str) -> InvalidInput:
        """Return an error about a field, to be raised."""
        return InvalidInput(Problem(self.at(name), message))

    def only(self, names: Iterable[str]) -> Fields:
        """Return itself, if it has no other fields than these.

        Raises:
            InvalidInput: each other field, with what may have been meant.
        """
        known = tuple(names)
        unknown = [Problem(self.at(n), f"no such field; {suggestion(n, known)}") for n in self.data if n not in known]
        if unknown:
            raise InvalidInput(unknown)
        return self

    def any(self, name: str) -> Any:
        """Return a field that must be there."""
        if name not in self.data:
            raise self.wrong(name, "is required")
        return self.data[name]

    def number(self, name: str) -> float:
        """Return a finite number."""
        value = self.any(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise self.wrong(name, f"expected a number, got {_short(value)}")
        return value

    def count(self, name: str, least: int = 0) -> int:
        """Return a whole number that is at least ``least``."""
        value = self.number(name)
        if value != int(value) or value < least:
            raise self.wrong(name, f"expected a whole number of at least {least}, got {_short(value)}")
        return int(value)

    def text(self, name: str, *, among: Iterable[str] | None = None) -> str:
        """Return a text, one of some."""
        value = self.any(name)
        if not isinstance(value, str):
            raise self.wrong(name, f"expected a text, got {_short(value)}")
        known = None if among is None else tuple(among)
        if known is not None and value not in known:
            raise self.wrong(name, f"no {value!r} here; {suggestion(value, known)}")
        return value

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self.any(name)
        if not isinstance(value, bool):
            raise self.wrong(name, f"expected true or false, got {_short(value)}")
        return value

    def inside(self, name: str) -> Fields:
        """Return an object within this one."""
        return Fields(self.any(name), self.at(name))

    def each(self, name: str) -> list[Fields]:
        """Return the objects of a list."""
        value = self.any(name)
        if not isinstance(value, list):
            raise self.wrong(name, f"expected a list, got {_short(value)}")
        return [Fields(item, f"{self.at(name)}[{index}]") for index, item in enumerate(value)]


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
