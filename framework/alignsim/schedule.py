"""The instants of a run in order, and rules that say at which of them something takes up memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from operator import and_, or_
from typing import Any

import attrs

from alignsim.algorithm import AWAY, INIT, Algorithm

LAPS = ("init", "first", "steady")


@attrs.frozen
class Event:
    """One instant: in a lap, a role reaches a moment of a phase.

    The laps are ``init`` (every role loads), ``first`` (the first time through all phases) and ``steady``.
    """

    lap: str
    phase: str
    role: str
    moment: str

    def __str__(self) -> str:
        lap = "" if self.lap in ("steady", "init") else f"{self.lap}~"
        return f"{lap}{self.phase}:{self.role}/{self.moment}"


@attrs.frozen
class Schedule:
    """All events of a run in order: loading, the first lap, a steady lap."""

    algorithm: Algorithm
    events: tuple[Event, ...]

    @classmethod
    def of(cls, algorithm: Algorithm) -> Schedule:
        """Expand an algorithm's table into its events."""
        events = [Event("init", INIT, role, "load") for role in algorithm.roles]
        for lap in ("first", "steady"):
            for phase in algorithm.phases:
                events += [Event(lap, phase, role, moment) for role, moment in _moments(algorithm, phase)]
        return cls(algorithm, tuple(events))

    @cached_property
    def index(self) -> dict[Event, int]:
        """The place of every event."""
        return {event: i for i, event in enumerate(self.events)}

    def moments(self, role: str) -> frozenset[str]:
        """Return all moments that a role passes through."""
        return frozenset(e.moment for e in self.events if e.role == role)

    def activity_kinds(self, event: Event, role: str) -> frozenset[str]:
        """Return what ``role`` does at the event, by all names of that activity."""
        return frozenset({"load"}) if event.lap == "init" else self.algorithm.activity(event.phase, role).kinds

    def resident(self, event: Event, role: str) -> bool:
        """Whether the role's memory is on its device at the event."""
        return event.lap == "init" or self.algorithm.activity(event.phase, role).resident

    def lanes(self, event: Event) -> tuple[str, ...]:
        """Return the phases that run at the same time as the event's, itself included."""
        if event.lap == "init":
            return (event.phase,)
        return next((group for group in self.algorithm.concurrent if event.phase in group), (event.phase,))


def _moments(algorithm: Algorithm, phase: str) -> Iterator[tuple[str, str]]:
    if phase in algorithm.order:
        for event in algorithm.order[phase]:
            role, _, moment = event.partition(".")
            yield role, moment
        return
    busy = [r for r in algorithm.roles if not algorithm.activity(phase, r).kinds & AWAY]
    for role in busy or algorithm.roles[:1]:
        for moment in algorithm.activity(phase, role).moments:
            yield role, moment


@attrs.frozen
class Liveness:
    """A rule that picks events for a term of one owner. Rules combine with ``|`` and ``&``.

    Attributes:
        name: the rule in words; rules of one name are the same.
        picks: which events, of a schedule, a phase and a role.
        moments: what its own role must pass through.
        made: a call that makes it again, so that it travels; none where ``picks`` is the function of a module.
    """

    name: str
    picks: Callable[[Schedule, str | None, str | None], frozenset[int]] = attrs.field(repr=False, eq=False)
    moments: tuple[str, ...] = ()
    made: tuple[Callable[..., Any], tuple[Any, ...]] | None = attrs.field(default=None, repr=False, eq=False)

    def __reduce__(self) -> Any:
        return self.made or (Liveness, (self.name, self.picks, self.moments))

    def __or__(self, other: Liveness) -> Liveness:
        return Liveness(
            f"{self.name} or {other.name}",
            lambda s, p, r: self.picks(s, p, r) | other.picks(s, p, r),
            (*self.moments, *other.moments),
            (or_, (self, other)),
        )

    def __and__(self, other: Liveness) -> Liveness:
        return Liveness(
            f"{self.name} and {other.name}",
            lambda s, p, r: self.picks(s, p, r) & other.picks(s, p, r),
            (*self.moments, *other.moments),
            (and_, (self, other)),
        )


def _own(schedule: Schedule, phase: str | None, role: str | None, moments: tuple[str, ...]) -> list[int]:
    return [
        i
        for i, e in enumerate(schedule.events)
        if e.moment in moments and (role is None or e.role == role) and (phase is None or e.phase == phase)
    ]


def _every(schedule: Schedule, phase: str | None, role: str | None) -> frozenset[int]:
    return frozenset(i for i, e in enumerate(schedule.events) if phase is None or e.phase == phase)


always = Liveness("always", _every)
"""At every event; for a term per phase, at every event of its phase."""


def _resident(schedule: Schedule, phase: str | None, role: str | None) -> frozenset[int]:
    return frozenset(
        i for i in _every(schedule, phase, role) if role is None or schedule.resident(schedule.events[i], role)
    )


resident = Liveness("while its role is on the device", _resident)
"""At every event of the phases in which the role is neither asleep nor offloaded."""


def at(*moments: str) -> Liveness:
    """Live only when its own role is at one of the moments."""
    return Liveness(
        f"at {', '.join(moments)}", lambda s, p, r: frozenset(_own(s, p, r, moments)), moments, (at, moments)
    )


def while_(*activities: str) -> Liveness:
    """Live at every event of the phases in which its own role does one of the activities."""

    def picks(schedule: Schedule, phase: str | None, role: str | None) -> frozenset[int]:
        return frozenset(
            i
            for i in _every(schedule, phase, role)
            if role is not None and schedule.activity_kinds(schedule.events[i], role) & set(activities)
        )

    return Liveness(f"while it does {' or '.join(activities)}", picks, made=(while_, activities))


def span(first: str, last: str, *, without: tuple[str, ...] = ()) -> Liveness:
    """Live from its own role's moment ``first`` to ``last`` of the same phase, other roles' events between included.

    Its own role's moments in ``without`` are left out: ``span("loss", "backward_loss", without=("loss",
    "backward_loss"))`` is what is held in between, while others work.
    """

    def picks(schedule: Schedule, phase: str | None, role: str | None) -> frozenset[int]:
        found: set[int] = set()
        starts, ends = _own(schedule, phase, role, (first,)), _own(schedule, phase, role, (last,))
        for start in starts:
            here = schedule.events[start]
            there = ((e, schedule.events[e]) for e in ends if e >= start)
            same = [e for e, event in there if (event.lap, event.phase) == (here.lap, here.phase)]
            if same:
                found.update(range(start, same[0] + 1))
        return frozenset(found.difference(_own(schedule, phase, role, without)))

    left_out = f" without {', '.join(without)}" if without else ""
    again = partial(span, first, last, without=without)
    return Liveness(f"from {first} to {last}{left_out}", picks, (first, last), (again, ()))


def after(moment: str) -> Liveness:
    """Live from the first time its own role reaches the moment, for good."""

    def picks(schedule: Schedule, phase: str | None, role: str | None) -> frozenset[int]:
        reached = _own(schedule, None, role, (moment,))
        return (
            frozenset(range(min(reached), len(schedule.events))) & _every(schedule, phase, role)
            if reached
            else frozenset()
        )

    return Liveness(f"after the first {moment}", picks, (moment,), (after, (moment,)))
