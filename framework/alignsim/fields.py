"""Data from a file, read field by field: whatever is wrong with it is told with its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

import attrs

from alignsim.errors import InvalidInput, Problem, suggestion


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
            raise InvalidInput(Problem(self.place, f"expected an object with names, got {short(self.data)}"))

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
            raise self.wrong(name, f"expected a number, got {short(value)}")
        return value

    def count(self, name: str, least: int = 0) -> int:
        """Return a whole number that is at least ``least``."""
        value = self.number(name)
        if value != int(value) or value < least:
            raise self.wrong(name, f"expected a whole number of at least {least}, got {short(value)}")
        return int(value)

    def text(self, name: str, *, among: Iterable[str] | None = None) -> str:
        """Return a text, one of some."""
        value = self.any(name)
        if not isinstance(value, str):
            raise self.wrong(name, f"expected a text, got {short(value)}")
        known = None if among is None else tuple(among)
        if known is not None and value not in known:
            raise self.wrong(name, f"no {value!r} here; {suggestion(value, known)}")
        return value

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self.any(name)
        if not isinstance(value, bool):
            raise self.wrong(name, f"expected true or false, got {short(value)}")
        return value

    def inside(self, name: str) -> Fields:
        """Return an object within this one."""
        return Fields(self.any(name), self.at(name))

    def each(self, name: str) -> list[Fields]:
        """Return the objects of a list."""
        value = self.any(name)
        if not isinstance(value, list):
            raise self.wrong(name, f"expected a list, got {short(value)}")
        return [Fields(item, f"{self.at(name)}[{index}]") for index, item in enumerate(value)]


def short(value: object) -> str:
    """Return a value as messages tell it, however large it is."""
    if isinstance(value, str | bytes):
        value = value[:80]
    elif isinstance(value, int) and abs(value) >= 10**40:
        return "a number of more than 40 digits"
    elif isinstance(value, list | tuple | dict) and (len(value) > 20 or any(isinstance(v, list | dict) for v in value)):
        return f"{'names' if isinstance(value, dict) else 'a list'} ({len(value):,})"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
