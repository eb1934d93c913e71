"""Quantities of data files, read exactly and without a unit library: a catalogue is opened at every start."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from alignsim.errors import UnitError, suggestion

DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
SPELLINGS: dict[str, dict[str, int]] = {
    "byte": {f"{prefix}B": size for prefix, size in (DECIMAL | BINARY).items()},
    "byte/s": {f"{prefix}B/s": size for prefix, size in (DECIMAL | BINARY).items()},
    "flop/s": {f"{prefix}flop/s": size for prefix, size in DECIMAL.items()},
    "watt": {f"{prefix}W": size for prefix, size in DECIMAL.items()},
}
QUANTITY = re.compile(r"(?P<number>\d[\d_]*(?:\.\d+)?)\s*(?P<unit>[A-Za-z/]+)")


def in_base_units(text: object, unit: str) -> float:
    """Return ``text`` in the base unit ``unit``: ``byte``, ``byte/s``, ``flop/s`` or ``watt``.

    >>> in_base_units("80998 MiB", "byte"), in_base_units("3.35 TB/s", "byte/s")
    (84932558848.0, 3350000000000.0)

    Raises:
        UnitError: it is no text with a number of at least 0 and a unit of that dimension, or a fraction of a byte.
    """
    known = SPELLINGS[unit]
    match = QUANTITY.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise UnitError(f"expected a text with a number and a unit, such as '80 {_usual(unit)}', got {text!r}")
    if match["unit"] not in known:
        raise UnitError(f"{match['unit']!r} in {text!r} is no unit of {unit}; {suggestion(match['unit'], known)}")
    exact = Fraction(Decimal(match["number"].replace("_", ""))) * known[match["unit"]]
    if exact.denominator != 1:
        raise UnitError(f"{text!r} is not a whole number of {unit}")
    return float(exact)


def _usual(unit: str) -> str:
    return {"byte": "GiB", "byte/s": "GB/s", "flop/s": "Tflop/s", "watt": "W"}[unit]
