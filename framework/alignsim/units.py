"""The one unit registry, in which a byte has a dimension, and conversion to plain base numbers.

Base units are byte, second, flop, watt and dollar. Counts (parameter, token, sequence, layer, device) have no
dimension: ``byte/parameter`` and ``byte`` convert into each other.
"""

from __future__ import annotations

import math
import re
from functools import cache
from importlib.resources import files
from numbers import Real
from typing import TYPE_CHECKING, Any

from alignsim.errors import UnitError

if TYPE_CHECKING:
    import pint

BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_NUMBER_AND_UNIT = re.compile(
    r"[-+]?(\d[\d_,]*\.?\d*|\.\d+|nan\b|inf\b)(e[-+]?\d+)?\s*([a-zµμ%][a-z\dµμ_\s/*^%-]*)?", re.IGNORECASE
)


@cache
def registry() -> Any:
    """Return the unit registry; pint is imported at the first call."""
    import pint

    class Quantity(pint.UnitRegistry.Quantity):  # type: ignore[type-arg]
        """Pickles by spelling, so that it comes back into this registry and not into pint's default one."""

        def __mul__(self, other: Any) -> Any:
            times: Any = super().__mul__
            return times(float(other) if isinstance(other, bool) else other)  # pint knows no truth values

        __rmul__ = __mul__

        def __reduce__(self) -> Any:
            return quantity, (self.magnitude, f"{self.units}")

    class Registry(pint.UnitRegistry):  # type: ignore[type-arg]
        pass

    Registry.Quantity = Quantity
    made: Any = Registry(None)  # pyright: ignore[reportArgumentType]
    made.load_definitions(str(files("alignsim") / "units.txt"))
    return made


def quantity(magnitude: Any, unit: str = "") -> pint.Quantity[Any]:
    """Return ``magnitude`` in ``unit`` as a quantity of this package's registry."""
    return registry().Quantity(magnitude, unit)  # type: ignore[no-any-return]


@cache
def dimension(unit: str) -> str:
    """Return the dimension of ``unit`` as text, ``dimensionless`` for a count.

    Raises:
        UnitError: ``unit`` cannot be read.
    """
    return str(_unit(unit).dimensionality)


@cache
def factor(unit: str) -> float:
    """Return how many base units one ``unit`` is, e.g. 1024.0 for ``KiB``."""
    return float(registry().Quantity(1, _unit(unit)).to_base_units().magnitude) if unit else 1.0


@cache
def base_unit(unit: str) -> str:
    """Return the base unit of the dimension of ``unit``, e.g. ``byte / second`` for ``GiB/s``."""
    return f"{registry().Quantity(1, _unit(unit)).to_base_units().units}" if unit else ""


def _unit(unit: str) -> Any:
    try:
        return registry().Unit(unit)
    except Exception as error:
        raise UnitError(f"{unit!r} is not a unit ({error}); write e.g. 'byte', 'GiB', 'byte/s', 'flop/s'") from None


def to_base(value: Any, unit: str) -> float:
    """Return ``value`` in base units, checked to have the dimension of ``unit``.

    Text is parsed (``"80 GiB"``); quantities of any pint registry are read by their spelling; a bare number is
    taken in ``unit`` as it stands.

    Raises:
        UnitError: the value cannot be read, has another dimension, or is not finite.
    """
    if isinstance(value, bool):
        raise UnitError(f"expected {_expected(unit)}, got {value!r}")
    try:
        number = float(value) * factor(unit) if isinstance(value, int | float | Real) else _read(value, unit)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise UnitError(f"expected a finite number, got {value!r}")
    return float(number)


def measure(value: Any) -> tuple[float, str]:
    """Return any quantity in base units with its base unit; a bare number has none.

    Raises:
        UnitError: it cannot be read, or is not finite.
    """
    if isinstance(value, int | float):
        return to_base(value, ""), ""
    if isinstance(value, str):
        value = _parsed(value, "a number with a unit, such as '2 GiB'")
    elif not (hasattr(value, "magnitude") and hasattr(value, "units")):
        raise UnitError(f"expected a number or a quantity such as '2 GiB', got {value!r}")
    if isinstance(value, int | float):
        return to_base(value, ""), ""
    unit = base_unit(f"{value.units}")
    return to_base(value, unit), "" if unit == "dimensionless" else unit


def _read(value: Any, unit: str) -> Any:
    if hasattr(value, "magnitude") and hasattr(value, "units"):
        try:
            parsed = quantity(float(value.magnitude), f"{value.units}")
        except Exception:  # an array, or a unit that only its own registry knows
            raise UnitError(f"expected {_expected(unit)}, got {value!s}") from None
        return _converted(parsed, value, unit)
    if not isinstance(value, str):
        raise UnitError(f"expected {_expected(unit)}, got {value!r}")
    return _converted(_parsed(value, _expected(unit)), value, unit)


def _parsed(text: str, expected: str) -> Any:
    """Return one number with its unit; pint would also compute ``2**3 GiB``, for as long as that takes."""
    try:
        if _NUMBER_AND_UNIT.fullmatch(text.strip()):
            return registry().Quantity(text.strip())
    except Exception:  # whatever pint raises, the text cannot be read
        pass
    raise UnitError(f"cannot read {text!r} as {expected}")


def _converted(parsed: Any, value: Any, unit: str) -> Any:
    if parsed.dimensionality != _unit(unit).dimensionality:
        raise UnitError(f"expected {_expected(unit)}, got {value!s}")
    return parsed.to_base_units().magnitude


def _expected(unit: str) -> str:
    examples = {"[information]": "'80 GiB'", "[information] / [time]": "'900 GB/s'", "[power]": "'700 W'"}
    if dimension(unit) == "dimensionless":
        return "a plain number"
    example = examples.get(dimension(unit), f"'1 {unit}'")
    return f"a quantity of {dimension(unit)} with its unit, such as {example}"


def human(number: float, unit: str = "") -> str:
    """Return ``number`` (in base units) as people write it: bytes in binary units, counts with separators.

    >>> human(2684354560, "byte"), human(68976648192), human(3.5e12, "byte/s")
    ('2.500 GiB', '68,976,648,192', '3,500 GB/s')
    """
    if not math.isfinite(number):
        return str(number)
    plain = base_plain(unit)
    if plain == "byte":
        power = 0
        while abs(number) >= 1024 and power < len(BINARY) - 1:
            number, power = number / 1024, power + 1
        return f"{number:,.0f} B" if power == 0 else f"{number:,.3f} {BINARY[power]}"
    if plain == "byte/s":
        return f"{number / 1e9:,.6g} GB/s" if number < 1e15 else f"{number:.6g} B/s"
    text = f"{number:,.0f}" if number == int(number) and abs(number) < 2**63 else f"{number:,.6g}"
    return f"{text} {unit}".rstrip()


def base_plain(unit: str) -> str:
    """Return ``byte`` or ``byte/s`` for units of those dimensions without loading pint for the usual spellings."""
    if unit in ("", "byte", "byte/s"):
        return unit
    if unit in ("byte/parameter", "byte/param", "byte/token"):
        return "byte"
    return {"[information]": "byte", "[information] / [time]": "byte/s"}.get(dimension(unit), unit)
