"""What a process keeps: memory that it has once taken stays with it until it gives back what it does not need.

A process gives back before the first instant of a phase in which one of its roles goes away (falls asleep, is
offloaded), and before the instants that a component of its roles names as its ``releases``.
"""

from __future__ import annotations

from functools import cached_property

import attrs

from alignsim.parts import Parts


@attrs.frozen(eq=False)
class Keeping:
    """One process, and since when it keeps.

    Attributes:
        parts: what is composed.
        process: its name.
    """

    parts: Parts
    process: str

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """The roles that live in the process."""
        parts = self.parts
        return tuple(role for role in parts.algorithm.roles if parts.place(role).process == self.process)

    @cached_property
    def releases(self) -> frozenset[int]:
        """The events before which it gives back what it does not need."""
        schedule = self.parts.schedule
        found: set[int] = set()
        before = {lap: [e for e in schedule.events if e.lap == lap] for lap in ("init", "first", "steady")}
        last = before["init"][-1]
        for lap in ("first", "steady"):
            for event in before[lap]:
                gone = (r for r in self.roles if schedule.resident(last, r) and not schedule.resident(event, r))
                if next(gone, None) is not None:
                    found.add(schedule.index[event])
                last = event
        for role in self.roles:
            for component in self.parts.components.get(role, {}).values():
                if component.releases is not None:
                    found |= component.releases.picks(schedule, None, role)
        return frozenset(found)

    @cached_property
    def since(self) -> tuple[frozenset[int], ...]:
        """For every event, the events whose memory it may still keep, itself included.

        A steady lap follows another one: what its end has taken is there at its beginning, unless it was given back.
        """
        schedule = self.parts.schedule
        laps = [event.lap for event in schedule.events]
        steady = laps.index("steady")
        found = []
        for i in range(len(laps)):
            start = self._start(i, steady if laps[i] == "steady" else 0)
            if start is not None:
                found.append(frozenset(range(start, i + 1)))
            elif laps[i] != "steady":
                found.append(frozenset(range(i + 1)))
            else:
                again = self._start(len(laps) - 1, i + 1)
                earlier = range(self._start(i, 0) or 0 if again is None else steady, i + 1)
                found.append(frozenset((*earlier, *range(again or i + 1, len(laps)))))
        return tuple(found)

    def _start(self, last: int, least: int) -> int | None:
        """The event of the last release among ``least`` to ``last``."""
        return next((i for i in range(last, least - 1, -1) if i in self.releases), None)
