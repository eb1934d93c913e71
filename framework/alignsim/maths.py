"""The functions that formulas may call, for one number, an array, or a probe quantity alike.

On Python numbers they are plain Python, so that one configuration needs no NumPy; sweeps use the functions of
the same names from NumPy, which give the same bits.
"""

from __future__ import annotations

import math
from typing import Any

_NUMBERS = (int, float)


def where(condition: Any, yes: Any, no: Any) -> Any:
    """Return ``yes`` where the condition holds, else ``no``. Both are evaluated."""
    if _probing(condition):
        condition = bool(_count(condition))
    if isinstance(condition, bool | int | float):
        if _probing(yes, no):
            _same_dimension(yes, no)
        return yes if condition else no
    return _numpy().where(condition, yes, no)


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of two."""
    if isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS):
        return b if b < a or b != b else a  # what is not a number stays so, as in NumPy
    if _probing(a, b):
        return _same_dimension(a, b)
    return _numpy().minimum(a, b)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two."""
    if isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS):
        return b if b > a or b != b else a
    if _probing(a, b):
        return _same_dimension(a, b)
    return _numpy().maximum(a, b)


def ceil(value: Any) -> Any:
    """Return the smallest whole number that is not below ``value``."""
    if isinstance(value, _NUMBERS):
        return float(math.ceil(value)) if math.isfinite(value) else value
    if _probing(value):
        return _count(value)
    return _numpy().ceil(value)


def floor(value: Any) -> Any:
    """Return the largest whole number that is not above ``value``."""
    if isinstance(value, _NUMBERS):
        return float(math.floor(value)) if math.isfinite(value) else value
    if _probing(value):
        return _count(value)
    return _numpy().floor(value)


def safe_divide(a: Any, b: Any) -> Any:
    """Return ``a / b``, and 0 where ``b`` is 0. For the branch of ``where`` that is not taken."""
    if isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS):
        return a / b if b != 0 else 0.0
    if _probing(a, b):
        return a / b
    numpy = _numpy()
    zero = numpy.equal(b, 0)
    return numpy.where(zero, 0.0, numpy.divide(a, numpy.where(zero, 1.0, b)))


def sqrt(value: Any) -> Any:
    """Return the square root; of what is below 0, what is not a number."""
    if isinstance(value, _NUMBERS):
        return math.sqrt(value) if value >= 0 else math.nan
    if _probing(value):
        return value**0.5
    return _numpy().sqrt(value)


FUNCTIONS = {f.__name__: f for f in (where, minimum, maximum, ceil, floor, safe_divide, sqrt)}


def _numpy() -> Any:
    import numpy

    return numpy


def _probing(*values: Any) -> bool:
    return any(hasattr(value, "dimensionality") for value in values)


def _same_dimension(a: Any, b: Any) -> Any:
    """Return a quantity of the common dimension; a bare zero goes with any."""
    if isinstance(a, _NUMBERS) and a == 0:
        return b
    if isinstance(b, _NUMBERS) and b == 0:
        return a
    return a + b  # pint refuses to add unlike dimensions, and says which


def _count(value: Any) -> Any:
    if not value.dimensionless:
        raise TypeError(f"only counts can be rounded or decide, not {value.dimensionality}; divide by a unit first")
    return value
