"""A dictionary that nobody can change: what frozen classes keep, hashable parts or not, and what travels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise TypeError("this cannot be changed; make another, such as with using(...)")


_REFUSE: Any = _refuse


class FrozenDict(dict[K, V]):
    """A dictionary without the methods that change one. It compares, prints and pickles as a dictionary does."""

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _REFUSE

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> Any:
        return FrozenDict, (dict(self),)


def frozen(mapping: Mapping[Any, Any]) -> FrozenDict[Any, Any]:
    """Return a copy that cannot be changed. A named function, for type checkers of attrs classes."""
    return FrozenDict(mapping)
