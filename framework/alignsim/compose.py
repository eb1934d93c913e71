"""From parts to a graph: terms placed, parameters resolved, totals made; nothing missing, unused or silently zero."""

from __future__ import annotations

import copyreg
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from alignsim.bounds import bounded
from alignsim.by_phase import by_phase
from alignsim.errors import CompositionError, MissingInput, Problem, UnusedInput, near, suggestion
from alignsim.frozen import frozen
from alignsim.given import Given
from alignsim.graph import Node, TermGraph
from alignsim.numbers import from_const, numbers
from alignsim.parts import Parts
from alignsim.placing import Placed, place
from alignsim.probe import check_units
from alignsim.scope import Scope, anywhere, parse
from alignsim.term import Collect, Const, Of, Term, Total
from alignsim.totals import Totals


def compose(parts: Parts) -> TermGraph:
    """Return the graph of the parts.

    Raises:
        CompositionError: unfilled slots, names that clash, missing or unused inputs, cycles (see its subclasses).
        UnitError: a formula does not give the unit it declares.
        FormulaError: a formula leaves the language.
    """
    problems = list(parts.problems())
    if problems:
        raise CompositionError(problems)
    return _Composer(parts).run()


class _Composer:
    """Resolves every parameter of every placed term to the path of a node."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.placed = place(parts)
        self.numbers = numbers(parts, self.placed)
        self.overridden = {path: term for path, (term, _) in self.placed.items() if path in self.numbers}
        self.terms = {path: value for path, value in self.placed.items() if path not in self.numbers}
        self.possible = by_phase(parts, self.placed, self.numbers)
        self.totals = Totals(
            parts, self.placed, self._lookup, self._input
        )  # a number in a term's place is collected too
        self.nodes: dict[str, Node] = {}
        self.constants: dict[str, tuple[Const, str]] = {}
        self.read: set[str] = set()
        self.problems: list[Problem] = []

    def run(self) -> TermGraph:
        self._resolve(self.terms)
        self._stop_on(MissingInput)
        self.numbers = bounded(self.parts, self.numbers, self.placed, self.nodes.values())
        for node in self.totals.nodes():
            if node.path in self.terms or node.path in self.numbers:
                raise CompositionError(Problem(node.path, "is the name of a resource's total; call it something else"))
            self.nodes[node.path] = node
            self.read.update(node.inputs)
        self._stop_on(MissingInput)
        read = self.read & set(self.numbers)
        read |= {name for path in read for limit in self.numbers[path].limits for name in limit.names}
        for path in sorted(read):
            number = self.numbers[path]
            self.nodes[path] = Node(path, "given", number.unit, term=self.overridden.get(path), given=number)
        self._read_totals()
        self._idle()
        self._unused()
        graph = TermGraph(self.parts, frozen(self.nodes), frozen(self.totals.aliases))
        graph.order  # noqa: B018 - names a cycle before anything else is made of it
        check_units(graph)
        return graph

    def _resolve(self, terms: Mapping[str, Placed]) -> None:
        """Make nodes of terms, and of those that have a value of their own in a phase and are read there."""
        for path, (term, scope) in terms.items():
            parameters = term.formula.parameters.items()
            inputs = tuple(self._input(path, term, scope, name, marker) for name, marker in parameters)
            self.nodes[path] = Node(path, "term", term.unit, inputs, term, None, scope)
        read = {path: self.possible.pop(path) for path in [*self.possible] if path in self.read}
        if read:
            self.terms |= read
            self._resolve(read)

    def _read_totals(self) -> None:
        """Let the terms that read a total read the node that it is; a total of nothing is an error."""
        for path, term in [(path, node.term) for path, node in self.nodes.items() if node.kind == "term"]:
            inputs = tuple(self.totals.aliases.get(source, source) for source in self.nodes[path].inputs)
            for lost in (source for source in inputs if source not in self.nodes):
                origin = term.origin if term else None
                self.problems.append(Problem(path, f"reads {lost!r}, but nothing is in that total", origin))
            if inputs != self.nodes[path].inputs:
                self.nodes[path] = attrs.evolve(self.nodes[path], inputs=inputs)
        self._stop_on(MissingInput)

    def _input(self, path: str, term: Term, scope: Scope, name: str, marker: Any) -> str:
        """Return the path of the node that a parameter reads."""
        if isinstance(marker, Collect):
            return self._collect(path, term, scope, marker)
        if isinstance(marker, Total):
            return self.totals.ask(term, scope, marker)
        if isinstance(marker, Of):
            places = list(anywhere(marker.path, scope.phase, scope.stage))
            return self._find(places, path) or self._missing(path, term, marker.path, places)
        places = list(scope.lookups(name))
        constant = Const(marker) if isinstance(marker, int | float) else marker
        found = self._find(places, path)
        if isinstance(constant, Const) and found in (None, name):
            found = self._constant(term, name, constant)
        return found or self._missing(path, term, name, places)

    def _find(self, places: Iterable[str], own: str = "") -> str | None:
        for path in places:  # a term's default is its own: another that reads the name states one too
            known = path in self.terms or path in self.possible
            if path != own and (known or (path in self.numbers and path not in self.constants)):
                self.read.add(path)
                return path
        return None

    def _lookup(self, name: str, scope: Scope) -> str | None:
        return self._find(scope.lookups(name))

    def _constant(self, term: Term, name: str, constant: Const) -> str:
        """Let a default stand where nobody gives the number; two terms must not differ in it."""
        if name in self.terms or (name in self.numbers and name not in self.constants):
            return name
        known, provider = self.constants.setdefault(name, (constant, term.provider))
        if known != constant:
            self.problems.append(
                Problem(
                    name,
                    f"{provider} has the default {known.value} {known.unit}, and {term.provider} has {constant.value} "
                    f"{constant.unit}; give one of them another name",
                    term.origin,
                )
            )
        self.numbers[name] = from_const(known, provider)
        self.read.add(name)
        return name

    def _missing(self, path: str, term: Term, name: str, places: list[str]) -> str:
        short = parse(name)[0]
        slots = [slot.name for slot in self.parts.slots.values() if short in slot.promises]
        known = {_short(p): p for p in sorted([*self.terms, *self.numbers], reverse=True)}
        close = near(short, known)
        if slots:
            hint = f"slot {slots[0]!r} promises it: choose a component"
        elif close:
            hint = f"did you mean {' or '.join(close)}?"
        else:
            hint = "give it as an input, or add a term of that name"
        tried = ", ".join(places)
        message = f"needs {name!r}, which nothing provides (looked for {tried}); {hint}"
        self.problems.append(Problem(path, message, term.origin))
        return ""

    def _collect(self, path: str, term: Term, scope: Scope, marker: Collect) -> str:
        """Return the node that adds up a group within the scope of the term that asks."""
        members = sorted(
            member
            for member, (other, where) in self.placed.items()
            if marker.group in other.groups
            and member != path
            and scope.holds(where)
            and (marker.roles is None or where.role in marker.roles)
        )
        if not members:
            known = {group for other, _ in self.placed.values() for group in other.groups}
            hint = suggestion(marker.group, known)
            message = f"collects group {marker.group!r}, but no term here is in it; {hint}"
            self.problems.append(Problem(path, message, term.origin))
            return ""
        whose = f" of {', '.join(marker.roles)}" if marker.roles else ""
        total = f"{path.removesuffix(term.name)}{marker.reduce}({marker.group}{whose})"
        self.read.update(members)
        unit = self.placed[members[0]][0].unit
        about = f"group {marker.group}{whose}"
        self.nodes[total] = Node(total, marker.reduce, unit, tuple(members), scope=scope, about=about)
        return total

    def _idle(self) -> None:
        """Refuse what must count and takes up nothing, is in no group and is read by nobody."""
        read = {source for node in self.nodes.values() for source in node.inputs}
        read |= {name for term in self.overridden.values() for name in term.formula.parameters}
        counting = {name for slot in self.parts.slots.values() for name in slot.counts}
        for path, (term, _) in self.terms.items():
            if term.name in counting and term.resource is None and not term.groups and not {path, term.name} & read:
                message = "takes up no resource, is in no group and is read by nobody: it would silently count for 0"
                self.problems.append(Problem(path, f"{message}; say resource=... or group=...", term.origin))
        collected = {
            marker.group
            for term, _ in self.placed.values()
            for marker in term.formula.parameters.values()
            if isinstance(marker, Collect)
        }
        for path, (term, _) in self.terms.items():
            if term.groups and not collected.intersection(term.groups) and term.resource is None and path not in read:
                hint = suggestion(term.groups[0], collected)
                message = f"is in group {term.groups[0]!r}, which nobody collects, and counts for nothing; {hint}"
                self.problems.append(Problem(path, message, term.origin))
        self._stop_on(CompositionError)

    def _unused(self) -> None:
        for path, number in self.parts.givens.items():
            if path not in self.nodes and not self._overruled(path, number):
                paths = sorted(p for p in self.nodes if _short(p) == parse(path)[0])
                hint = f"it is spelt {' or '.join(paths[:4])} here" if paths else suggestion(path, self.nodes)
                self.problems.append(Problem(path, f"nothing reads this input; {hint}", number.origin))
        self._stop_on(UnusedInput)

    def _overruled(self, path: str, number: Given) -> bool:
        """Whether it is a default for all, and those that read it have numbers of their own."""
        return number.obtained == "default" and any(_short(p) == path and p != path for p in self.parts.givens)

    def _stop_on(self, kind: type[CompositionError]) -> None:
        if self.problems:
            raise kind(self.problems)


copyreg.pickle(TermGraph, lambda graph: (compose, (graph.parts,)))  # a graph travels as what it is made of


def _short(path: str) -> str:
    return path.rpartition(".")[2].rpartition(":")[2]
