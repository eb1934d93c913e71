"""What every resource adds up to: one set of totals a pool of devices, and the largest pool over all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from alignsim.errors import MissingInput, Problem, suggestion
from alignsim.graph import Node
from alignsim.kept_totals import AsItIs, Kept, Resolve
from alignsim.parts import Parts
from alignsim.placing import Placed
from alignsim.pool_totals import Below, Lookup, PoolTotals, named_order
from alignsim.resource import Resource, foundations, resting
from alignsim.scope import Scope
from alignsim.term import Term, Total


class Totals:
    """Makes the nodes of the totals of all resources of one graph.

    Args:
        parts: what is composed.
        terms: every placed term by path.
        lookup: finds the path of a name from a scope.
        resolve: finds the path of a parameter of a formula.
    """

    def __init__(self, parts: Parts, terms: Mapping[str, Placed], lookup: Lookup, resolve: Resolve) -> None:
        self.parts, self.terms, self.lookup, self.resolve = parts, terms, lookup, resolve
        self.aliases: dict[str, str] = {}
        filling = {term.resource for term, _ in terms.values() if term.fill}
        below = {name: {r.name for r in resting(parts.resources, name)} for name in parts.resources}
        self.filled = {name for name, those in below.items() if filling & those}

    def ask(self, term: Term, scope: Scope, marker: Total) -> str:
        """Return the path of the total that a term's parameter means; a fill sees the demand, without any fill.

        Raises:
            MissingInput: no such resource, or the term's role never reaches that moment.
        """
        if marker.resource not in self.parts.resources:
            hint = suggestion(marker.resource, self.parts.resources)
            raise MissingInput(Problem(term.name, f"no resource {marker.resource!r}; {hint}", term.origin))
        name = _demand(marker.resource) if term.fill and marker.resource in self.filled else marker.resource
        several = len(self.parts.pools) > 1
        pool = f"@{scope.pool}" if scope.pool and several else ""
        if marker.at is None:
            return f"{pool}.{name}" if pool else name
        for event in named_order(self.parts.schedule):
            if event.moment == marker.at and event.role == scope.role and scope.phase in (None, event.phase):
                return f"{event}{pool}.{name}"
        hint = suggestion(marker.at, self.parts.schedule.moments(scope.role or ""))
        raise MissingInput(Problem(term.name, f"{scope.role} never reaches {marker.at!r}; {hint}", term.origin))

    def nodes(self) -> Iterator[Node]:
        """Yield the nodes of all totals."""
        made: dict[tuple[str, str], PoolTotals] = {}
        over: list[Node] = []
        for resource in foundations(self.parts.resources):
            name = resource.name
            holders = {p: placed for p, placed in sorted(self.terms.items()) if placed[0].resource == name}
            over += self._resource(resource, name, holders, made)
            if name in self.filled:
                demand = {p: placed for p, placed in holders.items() if not placed[0].fill}
                over += self._resource(resource, _demand(name), demand, made)
            for scope in (Scope(pool=pool) for pool in self.parts.pools):  # a verdict reads it
                next((path for name in resource.capacity if (path := self.lookup(name, scope))), None)
        for totals in made.values():
            yield from totals.nodes
        yield from over

    def _resource(
        self, resource: Resource, name: str, holders: Mapping[str, Placed], made: dict[tuple[str, str], PoolTotals]
    ) -> Iterator[Node]:
        pools = []
        for pool in self.parts.pools:
            kinds = {None, *(stage.name for stage in self.parts.stages(pool))}
            here = {p: held for p, held in holders.items() if held[1].pool in (None, pool) and held[1].stage in kinds}
            below = self._below(resource, name, pool, made)
            if here or below:
                totals = PoolTotals(self.parts, resource, name, pool, here, self.lookup, self.aliases, below)
                made[name, pool] = totals
                totals.make()
                pools.append(f"@{pool}.{name}")
        if len(self.parts.pools) > 1 and pools:
            yield Node(name, "max", resource.unit, tuple(pools), about=f"{name}, the pool that needs most")

    def _below(
        self, resource: Resource, name: str, pool: str, made: Mapping[tuple[str, str], PoolTotals]
    ) -> Below | None:
        if resource.includes is None:
            return None
        wanted = resource.includes
        if name != resource.name and wanted in self.filled:
            wanted = _demand(wanted)
        totals = made.get((wanted, pool))
        if totals is None:
            return None
        return Kept(totals, resource.overhead, self.resolve) if resource.kept else AsItIs(totals)


def _demand(resource: str) -> str:
    return f"{resource}_demand"
