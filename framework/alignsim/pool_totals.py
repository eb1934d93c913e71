"""The totals of one resource in one pool: at an event, in a phase, in all; for every kind of rank.

The answer is the largest, over events and kinds of rank, of the sum of what is live there: never a sum of maxima.
What is live at every event is summed once and comes first in every sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

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
Instant = tuple[Event, ...]
LAPS = ("steady", "first", "init")


def named_order(schedule: Schedule) -> list[Event]:
    """Return the events with the steady lap first: it gives its names to what other laps share."""
    return sorted(schedule.events, key=lambda event: LAPS.index(event.lap))


class Below(Protocol):
    """The part of a total that is another resource's."""

    def held(self, event: Event, process: str | None) -> frozenset[Any]:
        """Return what makes up that part at an event."""
        ...

    def at(self, above: PoolTotals, instant: Instant, kind: Kind, process: str | None) -> list[str]:
        """Return the paths of that part's nodes at an instant; those that are new are added to ``above``."""
        ...


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
        below: the part that is another resource's, if there is one.
        nodes: what is made; totals that rest on these may add to it.
    """

    parts: Parts
    resource: Resource
    name: str
    pool: str
    holders: Mapping[str, Placed]
    lookup: Lookup
    aliases: dict[str, str]
    below: Below | None = None
    _made: dict[tuple[str, tuple[str, ...]], str] = attrs.field(factory=dict, init=False)
    _totals: dict[tuple[Instant, Kind, str | None], str | None] = attrs.field(factory=dict, init=False)
    nodes: list[Node] = attrs.field(factory=list, init=False)

    def make(self) -> None:
        """Make the totals at events, of phases, and in all.

        Raises:
            CompositionError: a term is live at moments that the algorithm never reaches.
        """
        for path, (term, scope) in self.holders.items():
            reached = self.parts.schedule.moments(scope.role) if scope.role else frozenset(term.live.moments)
            if not self._live[path] and not (term.live.moments and reached.issuperset(term.live.moments)):
                message = f"is live {term.live.name}, which never happens in algorithm {self.parts.algorithm.name}"
                raise CompositionError(Problem(path, message, term.origin))
        held = {event: atoms for event in named_order(self.parts.schedule) if (atoms := self.held(event))}
        totals = {event: self._over_kinds((event,)) for event in self._told(held)}
        side_by_side = self._lanes()
        phases = []
        for phase in dict.fromkeys(event.phase for event in self.parts.schedule.events):
            events = [event for event in held if event.phase == phase]
            if self.resource.over_events == "sum":
                members = [totals[event] for event in events if event.lap == "steady"]
            else:
                members = [totals[event] for event in undominated(events, held)] + side_by_side.get(phase, [])
            if members:
                path = f"{phase}:@{self.pool}.{self.name}" if self._at_pool else f"{phase}:{self.name}"
                phases.append(self._node(path, self.resource.over_events, members, f"{self.name} in {phase}"))
        self._top(phases)

    def _told(self, held: Mapping[Event, frozenset[Any]]) -> Iterable[Event]:
        """The events that get a total: all; where it rests on another resource, of a first lap only what counts."""
        if self.below is None:
            return held
        phases = {event.phase for event in held}
        counting = {e for phase in phases for e in undominated([e for e in held if e.phase == phase], held)}
        return [event for event in held if event.lap != "first" or event in counting]

    def _top(self, phases: list[str]) -> None:
        path = f"@{self.pool}.{self.name}"
        if not self._at_pool:
            self.aliases[path] = self.name
            path = self.name
        members = tuple(dict.fromkeys(phases)) if self.resource.over_events == "max" else tuple(phases)
        self.nodes.append(Node(path, self.resource.over_events, self.resource.unit, members, about=self.name))

    # ---- what is live ----------------------------------------------------------------------------------------
    @property
    def _at_pool(self) -> str:
        """How paths name the pool: not at all where there is only one."""
        return f"@{self.pool}" if len(self.parts.pools) > 1 else ""

    @cached_property
    def processes(self) -> tuple[str, ...]:
        """The processes of the pool, in the order of their first role."""
        places = map(self.parts.place, self.parts.algorithm.roles)
        return tuple(dict.fromkeys(place.process for place in places if place.pool == self.pool))

    @cached_property
    def _kinds(self) -> tuple[Kind, ...]:
        return self.parts.stages(self.pool) or (None,)

    @cached_property
    def _live(self) -> dict[str, frozenset[int]]:
        schedule = self.parts.schedule
        return {p: term.live.picks(schedule, scope.phase, scope.role) for p, (term, scope) in self.holders.items()}

    def own(self, event: Event, process: str | None = None) -> frozenset[str]:
        """Return the terms that are live at an event; those of one process, if it is named.

        What belongs to no process counts for the first.
        """
        index = self.parts.schedule.index[event]
        return frozenset(
            path
            for path, (_, scope) in self.holders.items()
            if index in self._live[path] and (process is None or (scope.process or self.processes[0]) == process)
        )

    def held(self, event: Event, process: str | None = None) -> frozenset[Any]:
        """Return what makes up the total at an event: one that is made of less is less."""
        own = self.own(event, process)
        return own if self.below is None else own | self.below.held(event, process)

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
    def path(self, where: str, kind: Kind, process: str | None = None, suffix: str = "") -> str:
        """Return how a total is spelt: at an event or a group of phases, of a kind of rank, of one process."""
        apart = f"%{process}" if process and len(self.processes) > 1 else ""
        place = f"{where}{self._at_pool}{apart}{f'[{kind.name}]' if kind else ''}"
        return f"{place}.{self.name}{suffix}" if place else f"{self.name}{suffix}"

    def add(self, node: Node) -> str:
        """Add a node, unless one of the same inputs is there, of which its path is then another spelling."""
        of = node.term.name if node.term else node.kind
        known = self._made.setdefault((of, node.inputs), node.path)
        if known == node.path:
            self.nodes.append(node)
        else:
            self.aliases[node.path] = known
        return known

    def _node(self, path: str, op: str, members: Iterable[str], about: str) -> str:
        """Make a node, or let ``path`` be another spelling of the one that has the same members."""
        inputs = tuple(dict.fromkeys(members)) if op == "max" else tuple(members)
        if len(inputs) == 1 and op == "max":
            if inputs[0] != path:
                self.aliases[path] = inputs[0]
            return inputs[0]
        return self.add(Node(path, op, self.resource.unit, inputs, about=about))

    def largest(self, path: str, members: Sequence[str], about: str) -> str:
        """Return the node of the largest member."""
        return self._node(path, "max", members, about)

    def at(self, instant: Instant, kind: Kind, process: str | None = None) -> str | None:
        """Return the total at an event, or of phases side by side, on a kind of rank; None where nothing is held.

        Args:
            instant: the event; or all events of the phases that run side by side in a lap.
            kind: the kind of rank.
            process: the process whose total it is; None for all.
        """
        alone = process if len(self.processes) > 1 else None
        key = instant, kind, alone
        if key not in self._totals:
            self._totals[key] = self._at(instant, kind, alone)
        return self._totals[key]

    def _at(self, instant: Instant, kind: Kind, alone: str | None) -> str | None:
        label = spelt(instant)
        own = {event: self.own(event, alone) for event in instant}
        shared = frozenset.intersection(*own.values())
        lanes = []
        if len(instant) > 1:
            apart = {event: live - shared for event, live in own.items()}
            lanes = self._transients(label, apart, kind, alone)
        below = [] if self.below is None else self.below.at(self, instant, kind, alone)
        members = self._of(kind, shared)
        if not members and not lanes and not below:
            return None
        resident = self._where_held(kind, (path for path in members if path in self._resident))
        others = self._where_held(kind, (path for path in members if path not in self._resident))
        if len(resident) > 1:
            path = self.path("", kind, alone, "_resident")
            resident = [self._node(path, "sum", resident, f"{self.name} that is always there")]
        about = f"{self.name} at {label}{f' of {alone}' if alone else ''}{f'[{kind.name}]' if kind else ''}"
        path = self.path(label, kind, alone)
        return self._node(path, "sum", [*below, *resident, *others, *lanes], about)

    def _over_kinds(self, instant: Instant) -> str:
        """Return the total at an event, or of phases side by side, over all kinds of rank."""
        label, totals = spelt(instant), []
        for kind in self._kinds:
            total = self.at(instant, kind)
            if total is not None and kind is not None and kind.present is not None:
                about = f"{self.name} at {label}[{kind.name}], 0 without such ranks"
                path = self.path(label, kind, suffix="_if_present")
                total = self._node(path, "masked", (total, self._present(kind)), about)
            totals += [] if total is None else [total]
        if self._kinds == (None,):
            return totals[0]
        return self._node(self.path(label, None), self.resource.over_stages, totals, f"{self.name} at {label}")

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
        return self.add(Node(path, "max", "", tuple(found), about=f"{kind.present} of all roles"))

    # ---- phases side by side -----------------------------------------------------------------------------------
    def groups(self) -> Iterator[tuple[tuple[str, ...], Instant]]:
        """Yield every group of phases that run side by side, with its events, lap by lap."""
        groups = self.parts.algorithm.concurrent if self.resource.over_events == "max" else ()
        for group in groups:
            for lap in ("steady", "first"):
                events = [e for phase in group for e in self.parts.schedule.events if (e.lap, e.phase) == (lap, phase)]
                held = tuple(event for event in events if self.held(event))
                if len({event.phase for event in held}) > 1:
                    yield group, held

    def _lanes(self) -> dict[str, list[str]]:
        """What concurrent phases hold together: what all of them have, once, and each one's largest transient."""
        found: dict[str, list[str]] = {}
        for group, instant in self.groups():
            total = self._over_kinds(instant)
            for phase in group:
                found.setdefault(phase, []).append(total)
        return found

    def _transients(
        self, label: str, own: Mapping[Event, frozenset[str]], kind: Kind, process: str | None
    ) -> list[str]:
        lanes = []
        for phase in dict.fromkeys(event.phase for event in own):
            totals = []
            for event in undominated([e for e in own if e.phase == phase], own):
                members = self._where_held(kind, self._of(kind, own[event]))
                if members:
                    path = self.path(str(event), kind, process, "_transient")
                    totals.append(self._node(path, "sum", members, f"{self.name} that {phase} adds at {event}"))
            if totals:
                path = self.path(f"{label}:{phase}", kind, process, "_transient")
                lanes.append(self._node(path, "max", totals, f"what {phase} adds"))
        return lanes


def spelt(instant: Instant) -> str:
    """Return an event's name; of phases side by side, theirs."""
    if len(instant) == 1:
        return str(instant[0])
    phases = "|".join(dict.fromkeys(event.phase for event in instant))
    return phases if instant[0].lap == "steady" else f"{instant[0].lap}~{phases}"


def undominated(events: list[Event], held: Mapping[Event, frozenset[Any]]) -> list[Event]:
    """Leave out events that hold nothing that another does not hold too: terms are never negative."""
    kept: list[Event] = []
    for event in events:
        if not any(held[event] <= held[other] for other in kept):
            kept = [other for other in kept if not held[other] <= held[event]] + [event]
    return kept
