"""What a total takes over from the resource that it rests on: as it is, or the most that each process has kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import attrs

from alignsim.graph import Node
from alignsim.keeping import Keeping
from alignsim.pool_totals import Instant, Kind, PoolTotals, named_order, spelt
from alignsim.schedule import Event
from alignsim.scope import Scope
from alignsim.term import Term

Resolve = Callable[[str, Term, Scope, str, Any], str]
"""Finds the path of a formula's parameter: path of the value, term, scope, name and marker of the parameter."""


@attrs.frozen(eq=False)
class AsItIs:
    """The total below, at the same instant."""

    totals: PoolTotals

    def held(self, event: Event, process: str | None) -> frozenset[Any]:
        """Return what makes up the total below."""
        return self.totals.held(event, process)

    def at(self, above: PoolTotals, instant: Instant, kind: Kind, process: str | None) -> list[str]:
        """Return the path of the total below."""
        found = self.totals.at(instant, kind, process)
        return [] if found is None else [found]


@attrs.frozen(eq=False, slots=False)
class Kept:
    """The most that each process has taken of what is below since it last gave back, and what that costs besides.

    Attributes:
        totals: the totals below.
        overhead: what is added to what is kept.
        resolve: finds what the overhead reads.
    """

    totals: PoolTotals
    overhead: Term | None
    resolve: Resolve

    def __attrs_post_init__(self) -> None:
        for name in ("_keeping", "_distinct", "_largest"):  # a method's cache would outlive the object
            object.__setattr__(self, name, cache(getattr(self, name)))

    def held(self, event: Event, process: str | None) -> frozenset[Any]:
        """Return, for each process, all sums that are no larger than what it keeps."""
        index = self.totals.parts.schedule.index[event]
        return frozenset(
            (name, number)
            for name in self._processes(process)
            for found in self._largest(name, self._keeping(name).since[index])
            for number in self._distinct(name)[1][self._distinct(name)[0][found]]
        )

    def at(self, above: PoolTotals, instant: Instant, kind: Kind, process: str | None) -> list[str]:
        """Return the paths of what each process keeps, and of what that costs it besides."""
        return [path for name in self._processes(process) for path in self._of(above, instant, kind, name)]

    def _processes(self, process: str | None) -> tuple[str, ...]:
        return self.totals.processes if process is None else (process,)

    def _of(self, above: PoolTotals, instant: Instant, kind: Kind, process: str) -> Iterator[str]:
        index = self.totals.parts.schedule.index
        since = frozenset().union(*(self._keeping(process).since[index[event]] for event in instant))
        instants: list[Instant] = [(event,) for event in self._largest(process, since)]
        instants += [group for _, group in self.totals.groups() if since.intersection(index[e] for e in group)]
        totals = (self.totals.at(found, kind, process) for found in instants)
        members = [total for total in totals if total is not None]
        if not members:
            return
        about = f"{self.totals.name} of {process} since it last gave memory back"
        kept = above.largest(above.path(spelt(instant), kind, process, "_kept"), members, about)
        yield kept
        if self.overhead is not None:
            path = above.path(spelt(instant), kind, process).removesuffix(f".{above.name}") + f".{self.overhead.name}"
            scope = Scope(stage=kind.name if kind else None, process=process, pool=self.totals.pool)
            inputs = tuple(
                kept if name == "kept" else self.resolve(path, self.overhead, scope, name, marker)
                for name, marker in self.overhead.formula.parameters.items()
            )
            yield above.add(Node(path, "term", self.overhead.unit, inputs, self.overhead, None, scope))

    # ---- made once for a process -------------------------------------------------------------------------------
    def _keeping(self, process: str) -> Keeping:
        return Keeping(self.totals.parts, process)

    def _distinct(self, process: str) -> tuple[dict[Event, int], dict[int, frozenset[int]]]:
        """Number what is held at events, and tell of each number which ones hold nothing besides: itself, and less."""
        numbers: dict[frozenset[Any], int] = {}
        events = {}
        for event in named_order(self.totals.parts.schedule):
            held = self.totals.held(event, process)
            if held:
                events[event] = numbers.setdefault(held, len(numbers))
        within = {n: frozenset(m for other, m in numbers.items() if other <= held) for held, n in numbers.items()}
        return events, within

    def _largest(self, process: str, since: frozenset[int]) -> tuple[Event, ...]:
        """The events among some at which the most is held: those that no other has all of."""
        events, within = self._distinct(process)
        index = self.totals.parts.schedule.index
        first: dict[int, Event] = {}
        for event, number in events.items():
            if index[event] in since:
                first.setdefault(number, event)
        less = frozenset().union(*(within[number] - {number} for number in first))
        return tuple(event for number, event in first.items() if number not in less)
