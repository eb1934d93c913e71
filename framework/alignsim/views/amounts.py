"""Numbers as people read them: memory in GiB, with GB beside it where a vendor's label is meant."""

from __future__ import annotations

from typing import Any

from alignsim.given import Given
from alignsim.units import base_plain, human


def gib(number: float) -> str:
    """Return bytes in GiB, without the unit: a column says it.

    >>> gib(80e9), gib(2**30)
    ('74.506', '1.000')
    """
    return f"{number / 2**30:,.3f}"


def gb(number: float) -> str:
    """Return bytes in GB, without the unit.

    >>> gb(80e9)
    '80.000'
    """
    return f"{number / 1e9:,.3f}"


def count(number: float) -> str:
    """Return a number as it is, with separators: ``68,976,648,192``."""
    return human(number)


def share(number: float) -> str:
    """Return a share in percent."""
    return f"{100 * number:.2f} %"


def amount(number: float, unit: str = "") -> str:
    """Return a number in base units with a unit that people use.

    >>> amount(80e9, "byte"), amount(989e12, "flop/s"), amount(700, "watt"), amount(12)
    ('74.506 GiB (80 GB)', '989 Tflop/s', '700 watt', '12')
    """
    plain = base_plain(unit)
    if plain == "byte" and abs(number) >= 2**30:
        return f"{gib(number)} GiB ({number / 1e9:,.6g} GB)"
    if unit == "flop/s":
        return f"{number / 1e12:,.6g} Tflop/s"
    return human(number, unit)


def measured(given: Given) -> str:
    """Return a number with its unit."""
    return amount(given.value, given.unit)


def extent(given: Given) -> str:
    """Return the range of a number; nothing where it is exact."""
    if not given.ranged:
        return ""
    return f"{amount(given.at('low'), given.unit)} to {amount(given.at('high'), given.unit)}"


def short(value: Any) -> str:
    """Return any value of a description in a few words: objects by their names."""
    if isinstance(value, Given):
        return measured(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return count(value)
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return ", ".join(f"{key}: {short(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(short(item) for item in value)
    return str(getattr(value, "name", None) or type(value).__name__)
