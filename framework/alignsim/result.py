"""The answer to a run: what a resource adds up to, in which phase, at which instant, and what of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from alignsim.errors import InvalidInput, Problem
from alignsim.explain import Explanation, explain
from alignsim.graph import TermGraph
from alignsim.plan import Plan
from alignsim.reached import instants, taken_apart
from alignsim.resource import resting
from alignsim.schedule import Schedule
from alignsim.units import base_unit, human, quantity
from alignsim.verdict import Verdict, judge

if TYPE_CHECKING:
    import pint

    from alignsim.scenario import Scenario

SCHEMA = "alignsim.result/2"


@attrs.frozen
class Binding:
    """An instant at which a total is reached.

    Attributes:
        path: the total at that instant, e.g. ``update:policy/forward[first].allocated``.
        value: in base units.
        terms: what is live there, largest first, as pairs of path and value.
    """

    path: str
    value: float
    terms: tuple[tuple[str, float], ...]

    @property
    def event(self) -> str:
        """The instant, without kind of rank and resource: ``update:policy/forward``."""
        return taken_apart(self.path)[0]

    @property
    def stage(self) -> str | None:
        """The kind of rank, where kinds are told apart."""
        return self.path.partition("[")[2].partition("]")[0] or None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"event": self.event, "stage": self.stage, "value": self.value, "terms": dict(self.terms)}


@attrs.frozen
class Figure:
    """What one resource adds up to.

    Attributes:
        name: the resource.
        low: its total at the low end of all ranges, in base units.
        expected: its total.
        high: its total at the high end.
        binding: the instant that sets it.
    """

    name: str
    low: float
    expected: float
    high: float
    binding: Binding

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        ends = {"low": self.low, "expected": self.expected, "high": self.high}
        return {**ends, "event": self.binding.event, "stage": self.binding.stage}


@attrs.frozen(eq=False, repr=False)
class Result:
    """All numbers of one run, each with its history.

    Attributes:
        scenario: the question.
        graph: the composed graph.
        resource: the resource that the question is about.
    """

    scenario: Scenario
    graph: TermGraph
    resource: str

    def __repr__(self) -> str:
        unit = self.graph.nodes[self.graph.resolve(self.resource)].unit
        told = f"{self.resource} {human(self.value(self.resource), unit)} at {self.binding.event}"
        return f"Result({self.scenario.name!r}: {told}{f', {self.verdict.status}' if self.verdict else ''})"

    @cached_property
    def _plan(self) -> Plan:
        return Plan.of(self.graph, self.graph.order)

    @cached_property
    def values(self) -> Mapping[str, float]:
        """Every value of the graph by path, in base units.

        Raises:
            InvalidInput: a formula does not give a finite number, or a term takes up less than nothing.
        """
        values = self._plan.evaluate()
        below = [
            Problem(
                path, f"takes up {human(values[path], node.unit)}; what is held is never negative", node.term.origin
            )
            for path, node in self.graph.nodes.items()
            if node.term is not None and node.term.resource is not None and values[path] < 0
        ]
        if below:
            raise InvalidInput(below)
        return values

    def at(self, end: str) -> Mapping[str, float]:
        """Return every value with all ranged constants at their ``low``, ``expected`` or ``high`` end."""
        return self.values if end == "expected" else self._ends[end]

    @cached_property
    def _ends(self) -> Mapping[str, Mapping[str, float]]:
        return {end: self._plan.evaluate(end) for end in ("low", "high")}

    def value(self, path: str) -> float:
        """Return one value in base units.

        Raises:
            UnknownName: no value is spelt like that.
        """
        return self.values[self.graph.resolve(path)]

    def __getitem__(self, path: str) -> pint.Quantity[Any]:
        return quantity(self.value(path), base_unit(self.graph[path].unit))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may make the answer incomplete: plugins that failed to offer terms or components."""
        return self.scenario.warnings

    @property
    def peak(self) -> pint.Quantity[Any]:
        """The largest total of the resource, over all instants, kinds of rank and pools."""
        return self[self.resource]

    @property
    def range(self) -> tuple[float, float, float]:
        """The peak at the low, expected and high ends, in base units."""
        return self.ends(self.resource)

    def ends(self, path: str) -> tuple[float, float, float]:
        """Return a value at the low, expected and high ends, in base units."""
        where = self.graph.resolve(path)
        low, expected, high = (self.at(end)[where] for end in ("low", "expected", "high"))
        return low, expected, high

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """The totals of the resource that is asked about, and of what it rests on or what rests on it, in order."""
        resources = self.graph.parts.resources
        if self.resource not in resources:
            return {}
        chains = {name: tuple(r.name for r in resting(resources, name)) for name in resources}
        root = chains[self.resource][-1]
        related = sorted(
            (name for name, chain in chains.items() if chain[-1] == root), key=lambda n: (len(chains[n]), n)
        )
        held = (name for name in related if name in self.graph.nodes or name in self.graph.aliases)
        return {name: Figure(name, *self.ends(name), self.bindings(name)[0]) for name in held}

    @cached_property
    def verdict(self) -> Verdict | None:
        """Whether it fits: what each pool has against what it takes, and all conditions. None: nothing is known."""
        return judge(self)

    @property
    def phases(self) -> dict[str, pint.Quantity[Any]]:
        """The largest total in each phase."""
        return {phase: self[path] for phase, path in self._phase_paths()}

    @property
    def instants(self) -> dict[str, pint.Quantity[Any]]:
        """The total at every instant of a steady lap, in order, as in ``update:policy/loss``; of pools, the largest."""
        schedule = Schedule.of(self.graph.parts.algorithm)
        found: dict[str, pint.Quantity[Any]] = {}
        for event in map(str, (e for e in schedule.events if e.lap == "steady")):
            path = f"{event}.{self.resource}"
            if path in self.graph.nodes or path in self.graph.aliases:
                found[event] = self[path]
        return found

    def _phase_paths(self, pool: str | None = None) -> Iterator[tuple[str, str]]:
        pools = self.graph.parts.pools
        for phase in ("init", *self.graph.parts.algorithm.phases):
            for p in pools if pool is None else (pool,):
                path = f"{phase}:{self.resource}" if len(pools) == 1 else f"{phase}:@{p}.{self.resource}"
                if path in self.graph.nodes or path in self.graph.aliases:
                    yield (phase if len(pools) == 1 else f"{phase}@{p}"), path

    @property
    def binding(self) -> Binding:
        """The instant, and kind of rank, that sets the peak."""
        return self.bindings(self.resource)[0]

    @property
    def runner_up(self) -> Binding | None:
        """The next instant below the binding one at which other terms are live."""
        found = self.bindings(self.resource)
        return found[1] if len(found) > 1 else None

    def bindings(self, path: str) -> list[Binding]:
        """Return the instants that the total at ``path`` is the largest of, largest first.

        Instants at which the same terms are live count once, under the first one's name; instants at which a part of
        another's terms is live are left out.
        """
        leaves = dict(self._leaves(self.graph.resolve(path)))
        if not leaves:
            raise InvalidInput(Problem(path, "no kind of rank is present in this layout"))
        ordered = sorted(leaves.items(), key=lambda item: (-item[1], item[0].startswith("first~"), item[0]))
        phase = path.partition(":")[0] if ":" in path else None
        return [Binding(self._spelling(leaf, phase), value, tuple(self._live(leaf))) for leaf, value in ordered]

    def _spelling(self, path: str, phase: str | None) -> str:
        """The name of an instant, of those at which the same is held: within a phase, if one is asked about.

        What rests on another resource is told at the instant at which most of that is held: there it was reached.
        """
        reached = self._reached(path, phase)
        if reached is not None:
            return reached
        if phase is None or path.removeprefix("first~").startswith(f"{phase}:"):
            return path
        names = (alias for alias, target in self.graph.aliases.items() if target == path)
        return next((n for n in names if n.removeprefix("first~").startswith(f"{phase}:") and "/" in n), path)

    def _reached(self, path: str, phase: str | None) -> str | None:
        value, found = self.value(path), {}
        for total, below in instants(self.graph, path):
            if phase in (None, total.removeprefix("first~").partition(":")[0]) and self.value(total) == value:
                found[total] = self.value(below) if below else 0.0
        return max(found, key=lambda total: found[total]) if found else None

    def _leaves(self, path: str) -> Iterator[tuple[str, float]]:
        node = self.graph.nodes[path]
        if node.kind == "max":
            for source in node.inputs:
                yield from self._leaves(source)
        elif node.kind == "masked":
            if self.values[node.inputs[1]] > 0:
                yield node.inputs[0], self.values[node.inputs[0]]
        else:
            yield path, self.values[path]

    def _live(self, path: str) -> list[tuple[str, float]]:
        found: list[tuple[str, float]] = []
        pending = [path]
        while pending:
            where = pending.pop()
            node = self.graph.nodes[where]
            if node.kind == "sum":
                pending += node.inputs
            elif node.kind == "max":  # the transient of a phase that runs beside
                pending.append(max(node.inputs, key=lambda p: self.values[p]))
            elif node.kind == "masked":
                pending += node.inputs[:1] if self.values[node.inputs[1]] > 0 else ()
            else:
                found.append((where, self.values[where]))
        return sorted(found, key=lambda item: (-item[1], item[0]))

    def explain(self, path: str | None = None, depth: int | None = None) -> Explanation:
        """Return the history of a value (the peak if none is named), ``depth`` steps back.

        Raises:
            UnknownName: no value is spelt like that.
        """
        return explain(self.graph, self.values, path or self.resource, depth)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, in base units; ``schema`` names its version."""
        low, expected, high = self.range
        return {
            "schema": SCHEMA,
            "scenario": self.scenario.name,
            "algorithm": self.graph.parts.algorithm.name,
            "resource": self.resource,
            "unit": base_unit(self.graph[self.resource].unit),
            "peak": {"low": low, "expected": expected, "high": high},
            "figures": {name: figure.to_dict() for name, figure in self.figures.items()},
            "verdict": self.verdict.to_dict() if self.verdict else None,
            "binding": self.binding.to_dict(),
            "runner_up": self.runner_up.to_dict() if self.runner_up else None,
            "warnings": list(self.warnings),
            "phases": {phase: self.bindings(path)[0].to_dict() for phase, path in self._phase_paths()},
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def __reduce__(self) -> Any:  # a result is cheap: send the question, not the answer
        return _solve, (self.scenario,)


def _solve(scenario: Scenario) -> Any:
    return scenario.result
