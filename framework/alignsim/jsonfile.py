"""JSON files of others, read within limits: no size, depth or spelling of them costs more than a moment."""

from __future__ import annotations

import json
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

import attrs

from alignsim.errors import InvalidInput, Origin, Problem

MOST = 32 * 2**20
"""Bytes of the largest file that is read, unless a caller says otherwise."""
TOLD = 20
"""Problems of one file that are told one by one."""
LONG = 400
"""Letters of the longest place whose line is found."""
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|\n|[^\s{}\[\],:"]+')


def at_most(problems: list[Problem], file: str) -> list[Problem]:
    """Return the first problems of a file, and how many more there are."""
    more = len(problems) - TOLD
    rest = [Problem("", f"and {more:,} more of the kind", Origin(file))] if more > 0 else []
    return [*problems[:TOLD], *rest]


def read_bytes(path: str | Path, most: int = MOST) -> bytes:
    """Return what a file holds.

    Raises:
        InvalidInput: no such file, not an ordinary one, or one of more than ``most`` bytes, of which none is kept.
    """
    origin = Origin(str(path))
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            if not stat.S_ISREG(Path(path).stat().st_mode):
                raise InvalidInput(Problem("", "is no ordinary file", origin))
            content = file.read(most + 1)
    except OSError as error:
        raise InvalidInput(Problem("", f"cannot be read: {error.strerror or error}", origin)) from None
    except InvalidInput:
        raise
    except ValueError as error:  # a null character in the name
        raise InvalidInput(Problem("", f"cannot be read: {error}", Origin(repr(str(path))))) from None
    if len(content) > most:
        raise InvalidInput(Problem("", f"is larger than {most:,} bytes, the most that is read of such a file", origin))
    return content


def _without_waiting(path: str, flags: int) -> int:
    """Open a file without waiting for the other end, where it is a pipe."""
    import os

    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


@attrs.frozen(slots=False)
class Document:
    """The content of a JSON file, and where in the file each part of it is.

    Attributes:
        file: how the file is called in messages.
        text: all of it.
        content: what it says.
    """

    file: str
    text: str = attrs.field(repr=False)
    content: Any

    @cached_property
    def marks(self) -> Mapping[str, tuple[int, int]]:
        """The line and column of every name and item by its place, such as ``text_config.layer_types[3]``."""
        return dict(_marks(self.text))

    def origin(self, place: str) -> Origin:
        """Return where a place of the content is; of one that is not there, the file."""
        return Origin(self.file, *self.marks.get(place, ()))

    def located(self, error: InvalidInput) -> InvalidInput:
        """Return an error whose problems name places of the content, each with its line and column."""
        return InvalidInput([attrs.evolve(p, origin=p.origin or self.origin(p.field)) for p in error.problems])


def read_document(path: str | Path, most: int = MOST, *, finite: bool = True) -> Document:
    """Return a JSON file.

    Args:
        path: where it is.
        most: the bytes of the largest that is read.
        finite: refuse infinities and what is not a number. Where they are let in (files of models have them, where they
            do not matter), whoever reads a number of the content must look.

    Raises:
        InvalidInput: no such file, too large, no text, no JSON, a name twice in one object, or a number that is not
            finite; with the line, or the place within the data.
    """
    return document(read_bytes(path, most), str(path), finite=finite)


def document(data: bytes, file: str, *, finite: bool = True) -> Document:
    """Return JSON that has been read already; ``file`` is told as where it is from.

    Raises:
        InvalidInput: as for :func:`read_document`.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(Problem("", f"is not UTF-8 text: {error.reason}", Origin(file))) from None
    twice: Counter[str] = Counter()

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice.update(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        return found

    try:
        content = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        where = Origin(file, error.lineno, error.colno)
        raise InvalidInput(Problem("", f"is not JSON: {error.msg}", where)) from None
    except RecursionError:
        raise InvalidInput(Problem("", "is nested too deep to be read", Origin(file))) from None
    except ValueError:
        message = "is not JSON that can be read: it has a whole number of thousands of digits"
        raise InvalidInput(Problem("", message, Origin(file))) from None
    found = Document(file, text, content)
    problems = list(_repeated(text, file)) if twice else []
    if twice and not problems:  # in places too long to be told
        problems = [Problem("", f"has {_short(name)} twice in one object", Origin(file)) for name in twice]
    strange = _strange(content) if finite else ()
    problems += [Problem(place, f"{value!r} is not a number", Origin(file)) for place, value in strange]
    if problems:
        raise InvalidInput(at_most(problems, file))
    return found


def read_json(path: str | Path) -> Any:
    """Return the content of a JSON file; raises as :func:`read_document` does."""
    return read_document(path).content


def _repeated(text: str, file: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for place, mark in _marks(text):
        if place in seen:
            yield Problem(place, "is here twice", Origin(file, *mark))
        seen.add(place)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def _strange(content: Any) -> Iterator[tuple[str, float]]:
    pending: list[tuple[Any, Any]] = [(None, content)]  # a place is a chain of steps, spelt out only where it is told
    while pending:
        place, value = pending.pop()
        if isinstance(value, dict):
            pending += [((place, f".{name}"), item) for name, item in value.items() if not isinstance(item, str | int)]
        elif isinstance(value, list):
            pending += [((place, index), item) for index, item in enumerate(value) if not isinstance(item, str | int)]
        elif isinstance(value, float) and not isfinite(value):
            yield _spelt(place), value


def _spelt(place: Any) -> str:
    steps: list[str] = []
    while place is not None:
        place, step = place
        steps.append(step[:LONG] if isinstance(step, str) else f"[{step}]")
    return "".join(reversed(steps)).lstrip(".")


def _marks(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the place of every name and list item of valid JSON, with its line and column; not of very long places."""
    line, begun, awaited = 1, 0, False
    place: str | None = ""
    open_: list[tuple[str | None, int | None]] = []  # place and next index of a list, None of an object
    for match in TOKEN.finditer(text):
        token = match.group()
        if token == "\n":
            line, begun = line + 1, match.end()
            continue
        within, index = open_[-1] if open_ else ("", None)
        if token in "}]":
            open_.pop()
        elif token in ":,":
            awaited = token == ":"
        else:
            if index is not None:
                place, open_[-1] = _below(within, f"[{index}]"), (within, index + 1)
            elif open_ and not awaited:
                place = _below(within, f".{json.loads(token)}")
            if open_ and not (index is None and awaited) and place is not None:
                yield place, (line, match.start() - begun + 1)
            if token in "{[":
                open_.append((place, 0 if token == "[" else None))
            awaited = False


def _below(within: str | None, step: str) -> str | None:
    return None if within is None or len(within) + len(step) > LONG else f"{within}{step}".lstrip(".")
