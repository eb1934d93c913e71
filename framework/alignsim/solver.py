"""A solver answers a question about a scenario; its answer is a type of its own."""

# pyright: reportReturnType=false
from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Solver(Protocol):
    """What a solver plugin offers: a name, and ``solve``.

    A solver asks scenarios for plans, sweeps and values; it never touches terms.
    """

    @property
    def name(self) -> str:
        """How scenarios and people call it."""

    def solve(self, scenario: Any) -> Any:
        """Return the answer.

        Raises:
            AlignSimError: the scenario cannot be answered, and why.
        """
