"""YAML 1.2 and JSON of a run, read into plain data: every value has its line and column, and nothing is expanded.

Anchors, aliases, tags and several documents are refused: a run needs none, and what they cost has no bound. YAML 1.2
has no ``on`` or ``yes``: ``true`` and ``false`` are the only truth values, and ``5e-7`` is a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any

import attrs

from alignsim.errors import InvalidInput, Origin, Problem
from alignsim.fields import short
from alignsim.jsonfile import at_most, read_bytes

MOST = 256 * 2**10
"""Bytes of the largest run file that is read."""
DEEP = 16
WHOLE = re.compile(r"[-+]?[0-9]{1,40}")
REAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,6})?")
STRANGE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)|[-+]?Infinity|NaN")
PLAIN: Mapping[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


@attrs.frozen
class Tree:
    """The content of a file, and the line and column of every value by its place, such as ``models.policy``.

    ``problems`` are what is wrong with it as YAML, where the rest could be read all the same.
    """

    file: str
    content: Any
    places: Mapping[str, Origin]
    problems: tuple[Problem, ...] = ()

    def sound(self) -> Tree:
        """Return itself.

        Raises:
            InvalidInput: there are problems; all of them.
        """
        if self.problems:
            raise InvalidInput(self.problems)
        return self

    def origin(self, place: str) -> Origin:
        """Return where a place is; of one that is not there, the file."""
        return self.places.get(place, Origin(self.file))


def read_tree(path: str | Path) -> Tree:
    """Return a YAML or JSON file as plain data, with what a run has no use for as ``problems``.

    Raises:
        InvalidInput: no such file, too large, too deep, or not YAML; with its place.
    """
    try:
        text = read_bytes(path, MOST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(Problem("", f"is not UTF-8 text: {error.reason}", Origin(str(path)))) from None
    return tree_of(text, str(path))


def tree_of(text: str, file: str) -> Tree:
    """Return YAML or JSON that has been read already; ``file`` is told as where it is from.

    Raises:
        InvalidInput: as for :func:`read_tree`.
    """
    return _Builder(file).read(text)


@attrs.define
class _Builder:
    """Puts the events of one file together."""

    file: str
    problems: list[Problem] = attrs.field(factory=list)
    places: dict[str, Origin] = attrs.field(factory=dict)

    def read(self, text: str) -> Tree:
        yaml = import_module("ruamel.yaml")
        parser = yaml.YAML(typ="safe", pure=True)
        try:
            content = self._whole(parser.parse(text))
        except yaml.error.MarkedYAMLError as error:
            where = self._at(error.problem_mark) if error.problem_mark else Origin(self.file)
            raise InvalidInput(Problem("", f"is not YAML: {error.problem or error.context}", where)) from None
        except InvalidInput:
            raise
        except (yaml.error.YAMLError, ValueError) as error:
            told = str(error).splitlines()[0][:200]
            raise InvalidInput(Problem("", f"is not YAML: {told}", Origin(self.file))) from None
        return Tree(self.file, content, self.places, tuple(at_most(self.problems, self.file)))

    def _at(self, mark: Any) -> Origin:
        return Origin(self.file, mark.line + 1, mark.column + 1)

    def _wrong(self, place: str, message: str, mark: Any) -> None:
        self.problems.append(Problem(place, message, self._at(mark)))

    def _whole(self, events: Iterator[Any]) -> Any:
        content: Any = None
        documents = 0
        for event in events:
            kind = type(event).__name__
            if kind == "DocumentStartEvent":
                documents += 1
                if documents > 1:
                    self._wrong("", "has a second document; a file is about one run", event.start_mark)
                    return content
                content = self._value(next(events), events, "", 0)
        return content

    def _value(self, event: Any, events: Iterator[Any], place: str, depth: int) -> Any:
        kind = type(event).__name__
        self.places[place] = self._at(event.start_mark)
        if kind == "AliasEvent" or getattr(event, "anchor", None):
            self._wrong(place, "has an anchor or an alias; write it out", event.start_mark)
        if getattr(event, "tag", None):
            self._wrong(place, "has a tag; leave it out", event.start_mark)
        if kind == "ScalarEvent":
            return self._scalar(event, place)
        if kind == "AliasEvent":
            return None
        if depth >= DEEP:
            raise InvalidInput(Problem(place, f"is nested more than {DEEP} deep", self._at(event.start_mark)))
        named = kind == "MappingStartEvent"
        return self._names(events, place, depth) if named else self._list(events, place, depth)

    def _list(self, events: Iterator[Any], place: str, depth: int) -> list[Any]:
        found: list[Any] = []
        for event in events:
            if type(event).__name__ == "SequenceEndEvent":
                break
            found.append(self._value(event, events, f"{place}[{len(found)}]", depth + 1))
        return found

    def _names(self, events: Iterator[Any], place: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for event in events:
            if type(event).__name__ == "MappingEndEvent":
                break
            name = event.value if type(event).__name__ == "ScalarEvent" else None
            below = f"{place}.{short(name)[1:-1] if name and len(name) > 60 else name}".lstrip(".")
            if name is None:
                raise InvalidInput(Problem(place, "expected a name before the colon", self._at(event.start_mark)))
            if name in found:
                self._wrong(below, "is here twice", event.start_mark)
            found[name] = self._value(next(events), events, below, depth + 1)
        return found

    def _scalar(self, event: Any, place: str) -> Any:
        text: str = event.value
        if event.style is not None or not event.implicit[0]:
            return text
        if text in PLAIN:
            return PLAIN[text]
        if WHOLE.fullmatch(text):
            return int(text)
        if STRANGE.fullmatch(text) or (REAL.fullmatch(text) and not isfinite(float(text))):
            self._wrong(place, f"{short(text)[1:-1]} is not a number", event.start_mark)
            return None
        return float(text) if REAL.fullmatch(text) else text
