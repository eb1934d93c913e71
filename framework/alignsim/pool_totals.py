"""The totals of one resource in one pool: at an event, in a phase, in all; for every kind of rank.

The answer is the largest, over events and kinds of rank, of the sum of what is live there: never a sum of maxima.
What is live at every event is summed once and comes first in every sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import attrs

from alignsim.component import Stage
from alignsim.errors import CompositionError, MissingInput, Problem
from alignsim.graph import Node
from alignsim.parts import Parts
from alignsim.placing import Placed
from alignsim.resource import Resource
from alignsim.schedule import Event, Schedule
from alignsim.scope import Scope, spell

Lookup = Callable[[str, Scope], str | None]
Kind = Stage | None
LAPS = ("steady", "first", "init")


def named_order(schedule: Schedule) -> list[Event]:
    """Return the events with the steady lap first: it gives its names to what other laps share."""
    return sorted(schedule.events, key=lambda event: LAPS.index(event.lap))


@attrs.define(slots=False)
class PoolTotals:
    """Makes the nodes of one resource in one pool.

    Attributes:
        parts: what is composed.
        resource: how things add up.
        name: what the totals are called.
        pool: the pool of devices.
        holders: the terms that take the resource up there, by path.
        lookup: finds the path of a name from a scope.
        aliases: filled with the other spellings of what is made.
    """

    parts: Parts
    resource: Resource
    name: str
    pool: str
    holders: Mapping[str, Placed]
    lookup: Lookup
    aliases: dict[str, str]
    _made: dict[tuple[str, tuple[str, ...]], str] = attrs.field(factory=dict, init=False)
    _nodes: list[Node] = attrs.field(factory=list, init=False)

    def nodes(self) -> list[Node]:
        """Return all nodes of these totals.

        Raises:
            CompositionError: a term is live at moments that the algorithm never reaches.
        """
        for path, (term, scope) in self.holders.items():
            reached = self.parts.schedule.moments(scope.role) if scope.role else frozenset(term.live.moments)
            if not self._live[path] and not (term.live.moments and reached.issuperset(term.live.moments)):
                message = f"is live {term.live.name}, which never happens in algorithm {self.parts.algorithm.name}"
                raise CompositionError(Problem(path, message, term.origin))
        alive = {event: live for event in named_order(self.parts.schedule) if (live := self._alive(event))}
        totals = {event: self._over_kinds(str(event), live) for event, live in alive.items()}
        side_by_side = self._lanes(alive)
        phases = []
        for phase in dict.fromkeys(event.phase for event in self.parts.schedule.events):
            events = [event for event in alive if event.phase == phase]
            if self.resource.over_events == "sum":
                members = [totals[event] for event in events if event.lap == "steady"]
            else:
                members = [totals[event] for event in undominated(events, alive)] + side_by_side.get(phase, [])
            if members:
                path = f"{phase}:@{self.pool}.{self.name}" if self._at_pool else f"{phase}:{self.name}"
                phases.append(self._node(path, self.resource.over_events, members, f"{self.name} in {phase}"))
        self._top(phases)
        return self._nodes

    def _top(self, phases: list[str]) -> None:
        path = f"@{self.pool}.{self.name}"
        if not self._at_pool:
            self.aliases[path] = self.name
            path = self.name
        members = tuple(dict.fromkeys(phases)) if self.resource.over_events == "max" else tuple(phases)
        self._nodes.append(Node(path, self.resource.over_events, self.resource.unit, members, about=self.name))

    # ---- what is live ----------------------------------------------------------------------------------------
    @property
    def _at_pool(self) -> str:
        """How paths name the pool: not at all where there is only one."""
        return f"@{self.pool}" if len(self.parts.pools) > 1 else ""

    @cached_property
    def _kinds(self) -> tuple[Kind, ...]:
        return self.parts.stages(self.pool) or (None,)

    @cached_property
    def _live(self) -> dict[str, frozenset[int]]:
        schedule = self.parts.schedule
        return {p: term.live.picks(schedule, scope.phase, scope.role) for p, (term, scope) in self.holders.items()}

    def _alive(self, event: Event) -> frozenset[str]:
        index = self.parts.schedule.index[event]
        return frozenset(path for path in self.holders if index in self._live[path])

    def _of(self, kind: Kind, among: Iterable[str]) -> list[str]:
        """The terms of a kind of rank, in the order in which they are summed."""
        wanted = set(among)
        return [
            path
            for path, (_, scope) in self.holders.items()
            if path in wanted and (kind is None or scope.stage in (None, kind.name))
        ]

    @cached_property
    def _resident(self) -> frozenset[str]:
        events = len(self.parts.schedule.events)
        return frozenset(path for path in self.holders if len(self._live[path]) == events)

    # ---- nodes -----------------------------------------------------------------------------------------------
    def _path(self, event: str, kind: Kind, suffix: str = "") -> str:
        stage = f"[{kind.name}]" if kind else ""
        where = f"{event}{self._at_pool}{stage}"
        return f"{where}.{self.name}{suffix}" if where else f"{self.name}{suffix}"

    def _node(self, path: str, op: str, members: Iterable[str], about: str) -> str:
        """Make a node, or let ``path`` be another spelling of the one that has the same members."""
        inputs = tuple(dict.fromkeys(members)) if op == "max" else tuple(members)
        known = inputs[0] if len(inputs) == 1 and op == "max" else self._made.get((op, inputs))
        if known is None:
            self._made[op, inputs] = known = path
            self._nodes.append(Node(path, op, self.resource.unit, inputs, about=about))
        elif known != path:
            self.aliases[path] = known
        return known

    def _over_kinds(self, event: str, alive: Iterable[str], beside: Mapping[Kind, Sequence[str]] | None = None) -> str:
        """Return the total at an event over all kinds of rank; ``beside`` are totals of lanes that run beside it."""
        totals = []
        for kind in self._kinds:
            lanes = list((beside or {}).get(kind, ()))
            members = self._of(kind, alive)
            if not members and not lanes:
                continue
            resident = self._where_held(kind, (path for path in members if path in self._resident))
            others = self._where_held(kind, (path for path in members if path not in self._resident))
            if len(resident) > 1:
                path = self._path("", kind, "_resident")
                resident = [self._node(path, "sum", resident, f"{self.name} that is always there")]
            stage = f"[{kind.name}]" if kind else ""
            about = f"{self.name} at {event}{stage}"
            total = self._node(self._path(event, kind), "sum", [*resident, *others, *lanes], about)
            if kind is not None and kind.present is not None:
                path = self._path(event, kind, "_if_present")
                total = self._node(path, "masked", (total, self._present(kind)), f"{about}, 0 without such ranks")
            totals.append(total)
        if self._kinds == (None,):
            return totals[0]
        return self._node(self._path(event, None), self.resource.over_stages, totals, f"{self.name} at {event}")

    def _where_held(self, kind: Kind, members: Iterable[str]) -> list[str]:
        """Return members, each masked by the number that says whether this kind of rank holds it, if there is one."""
        return [self._masked(kind, path) for path in members] if kind and kind.holds else list(members)

    def _masked(self, kind: Stage, path: str) -> str:
        term, scope = self.holders[path]
        mask = kind.holds.get(self.parts.slot_of(term, scope.role) or "") if scope.role else None
        if mask is None or scope.stage is not None:
            return path
        found = self.lookup(mask, self.parts.scope(role=scope.role, stage=kind.name))
        if found is None:
            return path  # a role whose engine tells no kinds apart
        name = spell(f"{term.name}_if_held", scope.role or "", scope.phase, kind.name)
        return self._node(name, "masked", (path, found), f"{path}, 0 where [{kind.name}] does not hold it")

    def _present(self, kind: Stage) -> str:
        """Return the path of the number that says whether a layout has this kind of rank: that of any role here."""
        found: dict[str, None] = {}
        for role in self.parts.algorithm.roles:
            kinds = [s for component in self.parts.components.get(role, {}).values() for s in component.stages]
            if self.parts.place(role).pool == self.pool and kind in kinds:
                path = self.lookup(kind.present or "", self.parts.scope(role=role, stage=kind.name))
                found |= {path: None} if path is not None else {}
        if not found:
            raise MissingInput(Problem(f"[{kind.name}]", f"needs {kind.present!r}, which nothing provides"))
        if len(found) == 1:
            return next(iter(found))
        path = f"@{self.pool}[{kind.name}].{kind.present}"
        self._nodes.append(Node(path, "max", "", tuple(found), about=f"{kind.present} of all roles"))
        return path

    # ---- phases side by side -----------------------------------------------------------------------------------
    def _lanes(self, alive: Mapping[Event, frozenset[str]]) -> dict[str, list[str]]:
        """What concurrent phases hold together: what all of them have, once, and each one's largest transient."""
        found: dict[str, list[str]] = {}
        groups = self.parts.algorithm.concurrent if self.resource.over_events == "max" else ()
        for group in groups:
            for lap in ("steady", "first"):
                events = [event for event in alive if event.lap == lap and event.phase in group]
                if len({event.phase for event in events}) < 2:
                    continue
                shared = frozenset.intersection(*(alive[event] for event in events))
                own = {event: alive[event] - shared for event in events}
                label = f"{'' if lap == 'steady' else 'first~'}{'|'.join(group)}"
                beside = {kind: self._transients(label, group, own, kind) for kind in self._kinds}
                total = self._over_kinds(label, shared, beside)
                for phase in group:
                    found.setdefault(phase, []).append(total)
        return found

    def _transients(
        self, label: str, group: Sequence[str], own: Mapping[Event, frozenset[str]], kind: Kind
    ) -> list[str]:
        lanes = []
        for phase in group:
            totals = []
            for event in undominated([e for e in own if e.phase == phase], own):
                members = self._where_held(kind, self._of(kind, own[event]))
                if members:
                    path = self._path(str(event), kind, "_transient")
                    totals.append(self._node(path, "sum", members, f"{self.name} that {phase} adds at {event}"))
            if totals:
                path = self._path(f"{label}:{phase}", kind, "_transient")
                lanes.append(self._node(path, "max", totals, f"what {phase} adds"))
        return lanes


def undominated(events: list[Event], alive: Mapping[Event, frozenset[str]]) -> list[Event]:
    """Leave out events whose live terms are all live at another event too: terms are never negative."""
    kept: list[Event] = []
    for event in events:
        if not any(alive[event] <= alive[other] for other in kept):
            kept = [other for other in kept if not alive[other] <= alive[event]] + [event]
    return kept
