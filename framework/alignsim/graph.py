"""The dependency graph: nodes are values with a path, an edge runs from an input to its user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import attrs

from alignsim.errors import CycleError, InvalidInput, Problem, UnknownName
from alignsim.given import Given
from alignsim.limits import Limit
from alignsim.scope import Scope
from alignsim.term import Term

if TYPE_CHECKING:
    import networkx as nx

    from alignsim.parts import Parts


@attrs.frozen
class Node:
    """One value.

    Attributes:
        path: how it is spelt.
        kind: ``given``, ``term``, ``sum``, ``max`` or ``masked`` (a value, and 0 where its kind of rank is absent).
        unit: the unit of the value.
        inputs: for a term the paths of its parameters in order, for the others their members in order.
        term: the term of a ``term`` node; of a given, the term that it overrides.
        given: the number of a ``given`` node.
        scope: where it belongs.
        about: for a total, what it is the total of.
    """

    path: str
    kind: str
    unit: str
    inputs: tuple[str, ...] = ()
    term: Term | None = None
    given: Given | None = None
    scope: Scope = attrs.field(factory=Scope)
    about: str = ""


@attrs.frozen(eq=False, repr=False)
class TermGraph:
    """A composed graph: frozen, checked for cycles and units, in one fixed topological order.

    Attributes:
        parts: what it was composed of.
        nodes: by path.
        aliases: paths that are other spellings of a node, such as events at which the same terms are live.
    """

    parts: Parts
    nodes: Mapping[str, Node]
    aliases: Mapping[str, str] = attrs.field(factory=dict)

    def __repr__(self) -> str:
        return f"TermGraph({self.parts.algorithm.name}: {len(self.nodes):,} values)"

    @cached_property
    def network(self) -> nx.DiGraph[str]:
        """The networkx graph, frozen."""
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(sorted(self.nodes))
        graph.add_edges_from((source, node.path) for node in self.nodes.values() for source in node.inputs)
        return nx.freeze(graph)  # type: ignore[no-any-return]

    @cached_property
    def order(self) -> tuple[str, ...]:
        """All paths in lexicographic topological order: the order of evaluation, whatever order plugins came in.

        Raises:
            CycleError: terms need each other.
        """
        import networkx as nx

        try:
            return tuple(nx.lexicographical_topological_sort(self.network))
        except nx.NetworkXUnfeasible:
            loop = nx.find_cycle(self.network)
            chain = " -> ".join([*(edge[0] for edge in loop), loop[0][0]])
            raise CycleError(f"these need each other: {chain}") from None

    def resolve(self, path: str) -> str:
        """Return the path of the node that ``path`` spells.

        Raises:
            UnknownName: no value is spelt like that.
        """
        path = self.aliases.get(path, path)
        if path not in self.nodes:
            raise UnknownName("value", path, [*self.nodes, *self.aliases])
        return path

    def __getitem__(self, path: str) -> Node:
        return self.nodes[self.resolve(path)]

    def needed(self, outputs: Iterable[str]) -> tuple[str, ...]:
        """Return, in order, what the outputs need, themselves included."""
        wanted: set[str] = set()
        pending = [self.resolve(output) for output in outputs]
        while pending:
            path = pending.pop()
            if path not in wanted:
                wanted.add(path)
                pending += self.nodes[path].inputs
        return tuple(path for path in self.order if path in wanted)

    @property
    def givens(self) -> dict[str, Given]:
        """The numbers that come from outside, by path."""
        return {path: node.given for path, node in self.nodes.items() if node.given is not None}

    @cached_property
    def limits(self) -> Mapping[str, tuple[tuple[str, Limit], ...]]:
        """By path of a given, the limits that it takes part in: its own, and those of others that refer to it."""
        found: dict[str, dict[tuple[str, Limit], None]] = {}
        for path, number in self.givens.items():
            for limit in number.limits:
                for each in (path, *limit.names):
                    found.setdefault(each, {})[path, limit] = None
        return {path: tuple(limits) for path, limits in found.items()}

    def input_path(self, name: str) -> str:
        """Return the path of the given that ``name`` means: a path, or ``role.name`` of a role's model or place.

        Raises:
            UnknownName: no number of that name goes in.
            InvalidInput: several owners have a number of that name.
        """
        givens = self.givens
        if name in givens:
            return name
        role, _, short = name.rpartition(".")
        scope = self.parts.scope(role=role) if role in self.parts.algorithm.roles else Scope()
        for path in scope.lookups(short) if short.isidentifier() else ():
            if path in givens:
                return path
        matches = sorted(path for path in givens if path.rpartition(".")[2] == name)
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise InvalidInput(Problem(name, f"several owners have it: {', '.join(matches)}; name one of these"))
        raise UnknownName("input", name, givens)
