"""Every error says what was asked, where it came from, and what would have worked."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import attrs


def near(name: str, known: Iterable[str], *, count: int = 3) -> list[str]:
    """Return the known names closest to ``name``, case ignored, best first."""
    by_folded = {candidate.casefold(): candidate for candidate in sorted(known)}
    folded = name.casefold()
    close = get_close_matches(folded, by_folded, n=count, cutoff=0.6)
    inside = [candidate for candidate in by_folded if folded and folded in candidate and candidate not in close]
    if not close and not inside:  # a short name for a long one: the beginnings are compared
        begun: dict[str, str] = {}
        for candidate in by_folded:
            begun.setdefault(candidate[: len(folded)], candidate)
        close = [begun[match] for match in get_close_matches(folded, begun, n=count, cutoff=0.7)]
    return [by_folded[match] for match in [*close, *inside][:count]]


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return ``did you mean ...?``, or the list of what is known when nothing is close."""
    known = sorted(known)
    close = near(name, known)
    if close:
        return f"did you mean {' or '.join(close)}?"
    if not known:
        return "none is known"
    shown = ", ".join(known[:12])
    return f"known: {shown}" + (f", ... ({len(known)} in all)" if len(known) > 12 else "")


@attrs.frozen
class Origin:
    """A place in a file that a value came from."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


@attrs.frozen
class Problem:
    """One thing that is wrong with an input, and what would be right."""

    field: str
    message: str
    origin: Origin | None = None

    def __str__(self) -> str:
        where = f"{self.origin}: " if self.origin else ""
        return f"{where}{self.field}: {self.message}" if self.field else f"{where}{self.message}"


class AlignSimError(Exception):
    """Base of all errors raised on purpose."""


class InvalidInput(AlignSimError, ValueError):
    """Something that a user wrote is wrong. ``problems`` lists all that was found, not only the first."""

    def __init__(self, problems: Problem | str | Iterable[Problem]) -> None:
        if isinstance(problems, str):
            problems = Problem("", problems)
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> Any:
        return type(self), (self.problems,)

    def inside(self, field: str, origin: Origin | None = None) -> InvalidInput:
        """Return the same error with every problem placed under ``field``."""
        return type(self)(
            Problem(f"{field}.{p.field}" if p.field else field, p.message, p.origin or origin) for p in self.problems
        )


class UnitError(InvalidInput):
    """A quantity has the wrong dimension, or cannot be read."""


class FormulaError(InvalidInput):
    """A formula leaves the small language that formulas are written in."""


class CompositionError(InvalidInput):
    """Terms, components and inputs do not make a whole."""


class RefusedRun(CompositionError):
    """It composes, but a term says that nobody can run it."""


class MissingInput(CompositionError):
    """A term needs a name that nothing provides."""


class CycleError(CompositionError):
    """Terms need each other."""


class DuplicateName(CompositionError):
    """Two providers offer the same name."""


class UnusedInput(CompositionError):
    """An input was given that nothing reads."""


class UnknownName(AlignSimError, LookupError):
    """No object of that kind has that name."""

    def __init__(self, kind: str, name: str, known: Iterable[str] = (), note: str = "") -> None:
        self.kind, self.name, self.known, self.note = kind, name, tuple(sorted(known)), note
        message = f"no {kind} is named {name!r}; {suggestion(name, self.known)}"
        super().__init__(f"{message}\n{note}" if note else message)

    def __reduce__(self) -> Any:
        return type(self), (self.kind, self.name, self.known, self.note)


class PluginError(AlignSimError):
    """A plugin does not keep its side of the contract."""
