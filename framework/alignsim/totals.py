"""What a resource adds up to: at an event, in a phase, in all; per kind of rank and per pool.

The answer is the largest, over events and kinds of rank, of the sum of what is live there: never a sum of maxima.
What is live at every event is summed once and comes first in every sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import attrs

from alignsim.component import Stage
from alignsim.errors import CompositionError, MissingInput, Problem, suggestion
from alignsim.graph import Node
from alignsim.parts import Parts
from alignsim.resource import Resource
from alignsim.schedule import Event
from alignsim.scope import Scope
from alignsim.term import Term, Total

Lookup = Callable[[str, Scope], str | None]


class Totals:
    """Makes the nodes of the totals of all resources of one graph.

    Args:
        parts: what is composed.
        terms: every placed term by path.
        lookup: finds the path of a name from a scope.
    """

    def __init__(self, parts: Parts, terms: Mapping[str, tuple[Term, Scope]], lookup: Lookup) -> None:
        self.parts, self.terms, self.lookup = parts, terms, lookup
        self.aliases: dict[str, str] = {}
        self.filled = {t.resource for t, _ in terms.values() if t.fill}

    def ask(self, term: Term, scope: Scope, marker: Total) -> str:
        """Return the path of the total that a term's parameter means.

        Raises:
            MissingInput: no such resource, or the term's role never reaches that moment.
        """
        if marker.resource not in self.parts.resources:
            raise MissingInput(
                Problem(
                    term.name,
                    f"no resource {marker.resource!r}; {suggestion(marker.resource, self.parts.resources)}",
                    term.origin,
                )
            )
        name = f"{marker.resource}_demand" if term.fill and marker.resource in self.filled else marker.resource
        pool = f"@{scope.pool}" if scope.pool and len(self.parts.pools) > 1 else ""
        if marker.at is None:
            return f"{pool}.{name}" if pool else name
        for event in self._events():
            if event.moment == marker.at and event.role == scope.role and scope.phase in (None, event.phase):
                return f"{event}{pool}.{name}"
        moments = self.parts.schedule.moments(scope.role or "")
        raise MissingInput(
            Problem(
                term.name, f"{scope.role} never reaches {marker.at!r}; {suggestion(marker.at, moments)}", term.origin
            )
        )

    def nodes(self) -> Iterator[Node]:
        """Yield the nodes of all totals."""
        for name in sorted(self.parts.resources):
            resource = self.parts.resources[name]
            holders = {p: (t, s) for p, (t, s) in sorted(self.terms.items()) if t.resource == name}
            if not holders:
                continue
            yield from self._resource(resource, name, holders)
            if name in self.filled:
                demand = {p: held for p, held in holders.items() if not held[0].fill}
                yield from self._resource(resource, f"{name}_demand", demand)

    def _events(self) -> list[Event]:
        """Steady events first: they give their names to what other laps share."""
        order = {"steady": 0, "first": 1, "init": 2}
        return sorted(self.parts.schedule.events, key=lambda e: order[e.lap])

    def _resource(self, resource: Resource, name: str, holders: Mapping[str, tuple[Term, Scope]]) -> Iterator[Node]:
        pools = []
        for pool in self.parts.pools:
            here = {p: held for p, held in holders.items() if held[1].pool in (None, pool)}
            if here:
                made = _Pool(self, resource, name, pool, here)
                yield from made.run()
                pools.append(f"@{pool}.{name}")
        if len(self.parts.pools) == 1:
            self.aliases[pools[0]] = name
        else:
            yield Node(name, "max", resource.unit, tuple(pools), about=f"{name}, the pool that needs most")


@attrs.define
class _Pool:
    """The totals of one resource in one pool."""

    totals: Totals
    resource: Resource
    name: str
    pool: str
    holders: Mapping[str, tuple[Term, Scope]]
    suffix: str = ""
    made: dict[tuple[str, tuple[str, ...]], str] = attrs.field(factory=dict)
    new: list[Node] = attrs.field(factory=list)
    live: dict[str, frozenset[int]] = attrs.field(factory=dict)

    def run(self) -> list[Node]:
        totals = self.totals
        parts = totals.parts
        several = len(parts.pools) > 1
        self.suffix = f"@{self.pool}" if several else ""
        schedule = parts.schedule
        self.live = {p: t.live.picks(schedule, s.phase, s.role) for p, (t, s) in self.holders.items()}
        for path, (term, _) in self.holders.items():
            if not self.live[path]:
                raise CompositionError(
                    Problem(
                        path,
                        f"is live {term.live.name}, which never happens in algorithm {parts.algorithm.name}",
                        term.origin,
                    )
                )
        stages: tuple[Stage | None, ...] = parts.stages(self.pool) or (None,)
        at_event: dict[Event, str] = {}
        sets: dict[Event, frozenset[str]] = {}
        for event in totals._events():
            index = schedule.index[event]
            alive = frozenset(p for p in self.holders if index in self.live[p])
            if alive:
                sets[event] = alive
                at_event[event] = self._stages(
                    str(event), stages, {s: [p for p in self._of(s) if p in alive] for s in stages}
                )
        groups = self._lanes(stages, sets)
        phases = []
        for phase in dict.fromkeys(e.phase for e in schedule.events):
            events = [e for e in at_event if e.phase == phase]
            if self.resource.over_events == "sum":
                events = [e for e in events if e.lap == "steady"]
                inputs = [at_event[e] for e in events]
            else:
                inputs = [at_event[e] for e in _undominated(events, sets)] + groups.get(phase, [])
            if inputs:
                phases.append(
                    self._node(
                        f"{phase}:{self.suffix}{'.' if several else ''}{self.name}",
                        self.resource.over_events,
                        inputs,
                        f"{self.name} in {phase}",
                    )
                )
        top = f"@{self.pool}.{self.name}" if several else self.name
        self.new.append(
            Node(
                top,
                self.resource.over_events,
                self.resource.unit,
                tuple(dict.fromkeys(phases)) if self.resource.over_events == "max" else tuple(phases),
                scope=Scope(pool=self.pool),
                about=f"{self.name} of {self.pool}",
            )
        )
        return self.new

    def _of(self, stage: Stage | None) -> list[str]:
        return [p for p, (_, s) in self.holders.items() if s.stage is None or stage is None or s.stage == stage.name]

    def _node(self, path: str, kind: str, inputs: Iterable[str], about: str) -> str:
        """Make a node, or return the one that has the same inputs and let ``path`` be another spelling of it."""
        inputs = tuple(dict.fromkeys(inputs)) if kind == "max" else tuple(inputs)
        known = inputs[0] if len(inputs) == 1 and kind == "max" else self.made.get((kind, inputs))
        if known is not None:
            if known != path:
                self.totals.aliases[path] = known
            return known
        self.made[kind, inputs] = path
        self.new.append(Node(path, kind, self.resource.unit, inputs, scope=Scope(pool=self.pool), about=about))
        return path

    def _sum(
        self, path: str, stage: Stage | None, members: Iterable[str], about: str, extra: Iterable[str] = ()
    ) -> str:
        events = len(self.totals.parts.schedule.events)
        base = [p for p in self._of(stage) if len(self.live[p]) == events]
        others = [p for p in members if p not in set(base)]
        spelt = f"[{stage.name}]" if stage else ""
        if len(base) > 1:
            base = [
                self._node(
                    f"{self.suffix}{spelt}{'.' if self.suffix or spelt else ''}{self.name}_resident",
                    "sum",
                    base,
                    f"{self.name} that is always there",
                )
            ]
        return self._node(path, "sum", [*base, *others, *extra], about)

    def _stages(
        self,
        event: str,
        stages: tuple[Stage | None, ...],
        members: Mapping[Stage | None, list[str]],
        extra: Mapping[Stage | None, list[str]] | None = None,
    ) -> str:
        parts = []
        for stage in stages:
            more = (extra or {}).get(stage, [])
            if not members[stage] and not more:
                continue
            spelt = f"[{stage.name}]" if stage else ""
            total = self._sum(
                f"{event}{self.suffix}{spelt}.{self.name}",
                stage,
                members[stage],
                f"{self.name} at {event}{spelt}",
                more,
            )
            if stage is not None and stage.present is not None:
                total = self._node(
                    f"{event}{self.suffix}{spelt}.{self.name}_if_present",
                    "masked",
                    (total, self._present(stage)),
                    f"{self.name} at {event}{spelt}, 0 without such ranks",
                )
            parts.append(total)
        if len(parts) == 1 and stages == (None,):
            return parts[0]
        return self._node(
            f"{event}{self.suffix}.{self.name}", self.resource.over_stages, parts, f"{self.name} at {event}"
        )

    def _present(self, stage: Stage) -> str:
        parts = self.totals.parts
        for role in parts.algorithm.roles:
            if parts.place(role).pool == self.pool and stage in [
                s for c in parts.components.get(role, {}).values() for s in c.stages
            ]:
                found = self.totals.lookup(stage.present or "", parts.scope(role=role, stage=stage.name))
                if found is not None:
                    return found
        raise MissingInput(Problem(f"[{stage.name}]", f"needs {stage.present!r}, which nothing provides"))

    def _lanes(self, stages: tuple[Stage | None, ...], sets: Mapping[Event, frozenset[str]]) -> dict[str, list[str]]:
        """Phases side by side: what is resident in all of them once, plus each lane's largest transient."""
        found: dict[str, list[str]] = {}
        if self.resource.over_events != "max":
            return found
        for group in self.totals.parts.algorithm.concurrent:
            for lap in ("steady", "first"):
                events = [e for e in sets if e.lap == lap and e.phase in group]
                if len({e.phase for e in events}) < 2:
                    continue
                shared = frozenset.intersection(*(sets[e] for e in events))
                label = f"{'' if lap == 'steady' else 'first~'}{'|'.join(group)}"
                extra: dict[Stage | None, list[str]] = {stage: [] for stage in stages}
                for phase in group:
                    lane = {e: sets[e] - shared for e in events if e.phase == phase and sets[e] - shared}
                    for stage in stages:
                        spelt = f"[{stage.name}]" if stage else ""
                        own = [
                            self._node(
                                f"{event}{self.suffix}{spelt}.{self.name}_transient",
                                "sum",
                                members,
                                f"{self.name} that only this lane has at {event}{spelt}",
                            )
                            for event in _undominated(list(lane), lane)
                            if (members := [p for p in self._of(stage) if p in lane[event]])
                        ]
                        if own:
                            extra[stage].append(
                                self._node(
                                    f"{label}:{phase}{self.suffix}{spelt}.{self.name}_transient",
                                    "max",
                                    own,
                                    f"largest transient of {phase}",
                                )
                            )
                total = self._stages(label, stages, {s: [p for p in self._of(s) if p in shared] for s in stages}, extra)
                for phase in group:
                    found.setdefault(phase, []).append(total)
        return found


def _undominated(events: list[Event], sets: Mapping[Event, frozenset[str]]) -> list[Event]:
    """Leave out events whose live terms are all live at another event too: terms are never negative."""
    kept: list[Event] = []
    for event in events:
        if not any(sets[event] <= sets[other] for other in kept):
            kept = [e for e in kept if not sets[e] <= sets[event]] + [event]
    return kept
