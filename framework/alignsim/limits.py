"""What a number may be: declared beside the number, and held to by one configuration and by every row of a sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from alignsim.maths import floor

End = float | str | None


@attrs.frozen
class Limit:
    """What is asked of a number, in base units. Both ends are included.

    An end may be the name of another number of the same role: ``Limit(most="layers")``. Where that is 0, the model or
    the run has nothing of the kind, and there is no such end.

    Attributes:
        most: the most that it may be.
        because: why, and what to choose instead.
        least: the least that it may be; None if it may be negative.
        whole: it counts things.
        divides: the name of another number that must be a multiple of it.
        among: the only values that it may have; none if it may have any.
        fits: the name of another number that must be a multiple of it, or that it must be a multiple of.
        by: who asks, in words; filled in where it is composed.

    >>> [words for words, broken in Limit(4, least=1, whole=True).rules(4.5) if broken]
    ['must be a whole number', 'must be at most 4']
    >>> [words for words, broken in Limit(divides="heads").rules(3, {"heads": 8}) if broken]
    ['must divide heads, which is 8']
    >>> [words for words, broken in Limit(fits="kv_heads").rules(6, {"kv_heads": 4}) if broken]
    ['must divide kv_heads, which is 4, or be a multiple of it']
    >>> [words for words, broken in Limit(among=(1, 2, 4)).rules(3) if broken]
    ['must be 1, 2 or 4']
    """

    most: End = None
    because: str = ""
    least: End = attrs.field(default=0.0, kw_only=True)
    whole: bool = attrs.field(default=False, kw_only=True)
    divides: str = attrs.field(default="", kw_only=True)
    fits: str = attrs.field(default="", kw_only=True)
    among: tuple[float, ...] = attrs.field(default=(), kw_only=True)
    by: str = attrs.field(default="", kw_only=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The other numbers that it refers to."""
        return tuple(end for end in (self.least, self.most, self.divides, self.fits) if isinstance(end, str) and end)

    def rules(self, value: Any, others: Mapping[str, Any] | None = None) -> Iterator[tuple[str, Any]]:
        """Yield each rule in words, and whether a number breaks it; of arrays, row by row.

        Args:
            value: the number, or many.
            others: the numbers that it refers to, by name; a rule about one that is absent is none.
        """
        known = others or {}
        if self.whole and (self.least, self.most) == (0, 1):
            yield "must be 0 or 1", (value != 0) & (value != 1)
            return
        if self.among:
            yield f"must be {_either(self.among)}", _none_of(value, self.among)
            return
        if self.whole:
            yield "must be a whole number", floor(value) != value
        for words, end in self._ends:
            if isinstance(end, str) and end not in known:
                continue
            if end is not None:
                limit = known[end] if isinstance(end, str) else end
                beyond = value < limit if words == "least" else value > limit
                named = isinstance(end, str)
                yield f"must be at {words} {_told(end, known)}", beyond & (limit != 0) if named else beyond
        if self.divides in known:
            yield f"must divide {_told(self.divides, known)}", _parts(value, known[self.divides])
        if self.fits in known:
            other = known[self.fits]
            words = f"must divide {_told(self.fits, known)}, or be a multiple of it"
            yield words, _parts(value, other) & _parts(other, value)

    def follows_from(self, other: Limit) -> bool:
        """Whether a number within another limit is within this one, whatever it is.

        >>> SIZE.follows_from(COUNT), COUNT.follows_from(SIZE), SHARE.follows_from(Limit(among=(0.5, 1)))
        (True, False, True)
        """
        if self.among:
            return bool(other.among) and {*other.among} <= {*self.among}
        if other.among:
            return not self.names and not any(broken for value in other.among for _, broken in self.rules(value))
        return (
            (other.whole or not self.whole)
            and self.divides in ("", other.divides)
            and self.fits in ("", other.fits)
            and _no_more(self.least, other.least, -1)
            and _no_more(self.most, other.most, 1)
        )

    def asks(self) -> str:
        """Return all of it in words, without the reason.

        >>> Limit(8, least=1, whole=True).asks(), SWITCH.asks(), Limit(divides="data").asks()
        ('whole, at least 1, at most 8', '0 or 1', 'at least 0, divides data')
        """
        if self.whole and (self.least, self.most) == (0, 1):
            return "0 or 1"
        if self.among:
            return _either(self.among)
        told = ["whole"] * self.whole
        told += [f"at {w} {e}" if isinstance(e, str) else f"at {w} {e:g}" for w, e in self._ends if e is not None]
        told += [f"divides {self.divides}"] if self.divides else []
        told += [f"divides {self.fits} or is a multiple of it"] if self.fits else []
        return ", ".join(told)

    @property
    def _ends(self) -> tuple[tuple[str, End], ...]:
        return ("least", self.least), ("most", self.most)

    def message(self, rule: str, got: str) -> str:
        """Return a rule, who asks for it and why, and what there is instead."""
        told = f"{rule} {self.by}" if self.by else rule
        return f"{told}: {self.because}; got {got}" if self.because else f"{told}, got {got}"


def _either(values: tuple[float, ...]) -> str:
    *most, last = (f"{value:g}" for value in values)
    return f"{', '.join(most)} or {last}" if most else last


def _none_of(value: Any, values: tuple[float, ...]) -> Any:
    """Whether a number is none of those."""
    differs = value != values[0]
    for other in values[1:]:
        differs = differs & (value != other)
    return differs


def _parts(value: Any, other: Any) -> Any:
    """Whether a number does not divide another; nothing divides by 0 or less."""
    above = value > 0
    return (other % (value * above + (value <= 0)) != 0) | (value <= 0)


def _no_more(end: End, other: End, sign: int) -> bool:
    """Whether what keeps to another end keeps to this one."""
    if end is None or end == other:
        return True
    return not isinstance(end, str) and not isinstance(other, str | None) and sign * other <= sign * end


def _told(end: float | str, known: Mapping[str, Any]) -> str:
    if not isinstance(end, str):
        return f"{end:g}"
    other = known[end]
    return f"{end}, which is {other:g}" if isinstance(other, int | float) else end


ANY = Limit(least=None)
"""May be negative."""

SIZE = Limit()
"""At least 0."""

COUNTED = Limit(2.0**53)
"""At least 0, and exact."""

COUNT = Limit(least=1, whole=True)
"""So many things, at least one."""

SHARE = Limit(1)
"""From 0 to 1."""

SWITCH = Limit(1, whole=True)
"""0 or 1."""
