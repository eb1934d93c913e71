"""Numbers that come from outside, each with its unit, its range and where it comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from numbers import Real
from typing import Any, TypeVar, cast

import attrs

from alignsim.errors import InvalidInput, Origin, Problem, UnitError, suggestion
from alignsim.frozen import FrozenDict, frozen
from alignsim.limits import SWITCH, Limit
from alignsim.units import dimension, measure, to_base

T = TypeVar("T")
EXACT = 2.0**53
SPELLINGS = {
    "byte": "'80 GiB' or '80 GB'",
    "byte/s": "'900 GB/s'",
    "flop/s": "'989 Tflop/s'",
    "watt": "'700 W'",
}


@attrs.frozen
class Given:
    """A number in base units.

    Attributes:
        value: the expected value, in base units.
        unit: the unit it is meant in; its dimension is what counts.
        low: the least it is taken to be; None where the value is exact.
        high: the most it is taken to be; None where the value is exact.
        source: where the number is from: a data sheet, a paper, a default with its version, ``user``.
        obtained: how: ``stated``, ``vendor``, ``measured``, ``inferred`` or ``default``.
        origin: the file and line it was read from.
        limits: what it is held to, by one configuration and by every row of a sweep.
    """

    value: float
    unit: str = ""
    low: float | None = None
    high: float | None = None
    source: str = "user"
    obtained: str = "stated"
    origin: Origin | None = None
    limits: tuple[Limit, ...] = ()

    def at(self, end: str) -> float:
        """Return the value at the ``low``, ``expected`` or ``high`` end of the range."""
        bound = {"low": self.low, "expected": None, "high": self.high}[end]
        return self.value if bound is None else bound

    @property
    def ranged(self) -> bool:
        """Whether low or high differ from the value."""
        return self.low is not None or self.high is not None


def given(
    value: Any,
    unit: str = "",
    *,
    low: Any = None,
    high: Any = None,
    source: str = "user",
    obtained: str = "stated",
    origin: Origin | None = None,
) -> Given:
    """Return a :class:`Given` from a number, a text such as ``"80 GiB"`` or a quantity.

    Raises:
        UnitError: wrong dimension, not finite, a whole number above 2^53, or low <= value <= high does not hold.
    """
    if isinstance(value, Given):
        return value
    expected = to_base(value, unit)
    least, most = (None if end is None else to_base(end, unit) for end in (low, high))
    for written, number in ((low, least), (value, expected), (high, most)):
        if number is not None and _inexact(written, number, unit):
            raise UnitError(f"{written} is above 2^53 and would not be exact")
    if (least is not None and least > expected) or (most is not None and most < expected):
        raise UnitError(f"low <= value <= high does not hold: {low!r}, {value!r}, {high!r}")
    return Given(expected, unit, least, most, source, obtained, origin)


def _inexact(written: Any, number: float, unit: str) -> bool:
    """Whether it is a whole number of things (bytes too), and so large that floats leave some out."""
    if isinstance(written, int):
        return abs(written) > EXACT
    large = abs(number) > EXACT and not isinstance(written, float)
    return large and number == int(number) and dimension(unit) in ("dimensionless", "[information]")


def stated(value: Any) -> Given:
    """Return a number that a user sets, in whatever unit it is written.

    Raises:
        UnitError: it cannot be read, or is not finite.
    """
    if isinstance(value, Given):
        return value
    return given(value, measure(value)[1])


# One named function a unit: the only kind of converter that type checkers of attrs classes understand.
def as_count(value: Any) -> int:
    """Return a whole number; text, fractions and truth values are refused."""
    number: Any = value
    if isinstance(value, bool) or not isinstance(value, int | float | Real):
        raise UnitError(f"expected a whole number, got {value!r}")
    if number != number or number in (float("inf"), float("-inf")) or int(number) != number:
        raise UnitError(f"expected a whole number, got {value!r}")
    return int(number)


def as_flag(value: Any) -> bool:
    """Return a truth value; a number or a text is refused."""
    if not isinstance(value, bool):
        raise UnitError(f"expected true or false, got {value!r}")
    return value


def as_bytes(value: Any) -> Given:
    """Return an amount of memory; a bare number is refused, since nobody can know what it counts."""
    return _measured(value, "byte")


def as_bandwidth(value: Any) -> Given:
    """Return bytes per second."""
    return _measured(value, "byte/s")


def as_rate(value: Any) -> Given:
    """Return floating-point operations per second."""
    return _measured(value, "flop/s")


def as_power(value: Any) -> Given:
    """Return watts."""
    return _measured(value, "watt")


def _measured(value: Any, unit: str) -> Given:
    if isinstance(value, Given):
        if value.unit != unit:
            to_base(f"1 {value.unit}", unit)
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise UnitError(f"{value!r} has no unit; write it with one, such as {SPELLINGS.get(unit, unit)}")
    return given(value, unit)


@attrs.frozen
class Within:
    """An attrs validator for numbers within limits; None passes. What those say of other numbers is told later."""

    limits: tuple[Limit, ...]

    def __call__(self, _: Any, field: attrs.Attribute[Any], value: Any) -> None:
        """Refuse a number that is not.

        Raises:
            InvalidInput: it is not.
        """
        number = value.value if isinstance(value, Given) else value
        for limit in self.limits if number is not None else ():
            for words, broken in limit.rules(number):
                if broken:
                    raise InvalidInput(Problem(field.name, limit.message(words, f"{number:g}")))


def within(*limits: Limit) -> Any:
    """Return an attrs validator for numbers within limits; None passes."""
    return Within(limits)


def at_least(least: float) -> Any:
    """Return an attrs validator for numbers that are at least ``least``; None passes."""
    return within(Limit(least=least))


def above(least: float) -> Callable[[Any, Any, Any], None]:
    """Return an attrs validator for numbers that are more than ``least``; None passes."""

    def check(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
        number = value.value if isinstance(value, Given) else value
        if number is not None and not number > least:
            raise InvalidInput(Problem(field.name, f"must be more than {least:g}, got {number:g}"))

    return check


def described(cls: type[T]) -> type[T]:
    """Make an attrs class report all its problems at once: unknown, missing and wrong fields, each by name.

    Put it above ``@attrs.frozen(kw_only=True)``. A method ``problems(self)`` that yields :class:`Problem` is asked
    for what concerns several fields together.
    """
    plain: Callable[..., None] = cls.__init__

    def checked(self: Any, *args: Any, **values: Any) -> None:
        if args:
            raise InvalidInput(Problem(cls.__name__, "takes keywords only"))
        fields = {f.alias or f.name: f for f in attrs.fields(cast(Any, cls))}
        problems = [
            Problem(f"{cls.__name__}.{name}", f"no such field; {suggestion(name, fields)}")
            for name in values
            if name not in fields
        ]
        for name, field in fields.items():
            if name not in values:
                if field.default is attrs.NOTHING and field.init:
                    problems.append(Problem(f"{cls.__name__}.{name}", "is required"))
                continue
            problems += _field_problems(cls.__name__, field, values[name])
        if problems:
            raise InvalidInput(problems)
        plain(self, **values)
        together = list(getattr(self, "problems", tuple)())
        if together:
            raise InvalidInput([attrs.evolve(p, field=f"{cls.__name__}.{p.field}") for p in together])

    checked.__wrapped__ = plain  # type: ignore[attr-defined]
    cls.__init__ = checked  # type: ignore[method-assign]
    return cls


def _field_problems(owner: str, field: attrs.Attribute[Any], value: Any) -> list[Problem]:
    convert = cast(Any, field.converter)
    try:
        converted = convert(value) if convert is not None else value
        if field.validator is not None:
            field.validator(None, field, converted)
    except InvalidInput as error:
        return [Problem(f"{owner}.{field.name}", p.message, p.origin) for p in error.problems]
    except (TypeError, ValueError) as error:
        return [Problem(f"{owner}.{field.name}", str(error.args[0] if error.args else error))]
    return []


@cache
def _counted(limit: Limit, whole: bool) -> Limit:
    return attrs.evolve(limit, whole=whole)


@described
@attrs.frozen(kw_only=True)
class Inputs:
    """Base of everything that hands numbers to the graph.

    Attributes:
        source: where all its numbers are from, unless a number says otherwise.
        sources: per field, where that number is from.
    """

    source: str = "user"
    sources: Mapping[str, str] = attrs.field(factory=FrozenDict, converter=frozen)

    def numbers(self) -> dict[str, Given]:
        """Return the numbers by name, each as a :class:`Given`. Truth values become 0 and 1; None is left out."""
        found: dict[str, Given] = {}
        for field in attrs.fields(type(self)):
            value = getattr(self, field.name)
            source = self.sources.get(field.name, self.source)
            if source == "user" and value == field.default:
                source = "default"
            if isinstance(value, Given):
                found[field.name] = value if value.source != "user" else attrs.evolve(value, source=source)
            elif isinstance(value, bool | int | float):
                found[field.name] = Given(float(value), source=source, limits=self._limits(field, value))
        return found

    def _limits(self, field: attrs.Attribute[Any], value: float) -> tuple[Limit, ...]:
        """What a number of a field is held to; what is whole stays whole."""
        if isinstance(value, bool):
            return (SWITCH,)
        stated = field.validator.limits if isinstance(field.validator, Within) else ()
        return tuple(_counted(limit, isinstance(value, int)) for limit in stated)
