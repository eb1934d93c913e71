"""A role's turn: from the first to the last of its own instants in a phase in which it works.

Frameworks that move states to the host bring them for one role's work and take them away after it: two roles that
work in one phase, one after the other, are not on the device together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from alignsim import Term, while_
from alignsim.schedule import Liveness, Schedule


def turn(*activities: str) -> Liveness:
    """Live from the first to the last of its own role's instants of every phase in which it does one of these."""

    def picks(schedule: Schedule, phase: str | None, role: str | None) -> frozenset[int]:
        own: dict[tuple[str, str], list[int]] = {}
        for event in sorted(while_(*activities).picks(schedule, phase, role)):
            here = schedule.events[event]
            if here.role == role:
                own.setdefault((here.lap, here.phase), []).append(event)
        return frozenset(event for turns in own.values() for event in range(turns[0], turns[-1] + 1))

    return Liveness(
        f"from its first instant to its last where it does {' or '.join(activities)}", picks, made=(turn, activities)
    )


def outside(inner: Liveness) -> Liveness:
    """Live whenever another rule is not."""

    def picks(schedule: Schedule, phase: str | None, role: str | None) -> frozenset[int]:
        return frozenset(range(len(schedule.events))) - inner.picks(schedule, phase, role)

    return Liveness(f"not {inner.name}", picks, made=(outside, (inner,)))


WEIGHTS_WORK = turn("train", "infer", "generate")
"""When weights that come and go are needed to compute with; they are handed over in all of a phase ``sync``."""

TRAINING = turn("train")
"""When the rest of the states is needed."""

LOADED = while_("load", "sync") | WEIGHTS_WORK
"""When weights that come and go are on the device."""


def _after(schedule: Schedule, phase: str | None, role: str | None) -> frozenset[int]:
    during = LOADED.picks(schedule, phase, role)
    return frozenset(event + 1 for event in during if event + 1 < len(schedule.events)) - during


AFTER_TURNS = Liveness("right after its turn", _after)
"""When a process gives back what a role had on the device for its turn."""


def leaving(terms: Iterable[Term], live: Liveness, names: Collection[str]) -> tuple[Term, ...]:
    """Return terms, of which those with these names are live only when another rule is as well."""
    return tuple(term.again(live=term.live & live) if term.name in names else term for term in terms)
