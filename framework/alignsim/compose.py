"""From parts to a graph: every term at every place it belongs, its parameters resolved, nothing silently zero."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from alignsim.errors import CompositionError, DuplicateName, MissingInput, Problem, UnusedInput, near, suggestion
from alignsim.given import Given, given
from alignsim.graph import Node, TermGraph
from alignsim.parts import Parts
from alignsim.probe import check_units
from alignsim.scope import Scope, anywhere, parse, spell
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
    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.terms: dict[str, tuple[Term, Scope]] = {}
        self.overridden: dict[str, Term] = {}
        self.numbers: dict[str, Given] = dict(parts.facts)
        self.nodes: dict[str, Node] = {}
        self.read: set[str] = set()
        self.problems: list[Problem] = []
        self.aliases: dict[str, str] = {}
        self.groups: dict[str, list[str]] = {}

    def run(self) -> TermGraph:
        self._place_terms()
        self._place_numbers()
        for path, (term, _) in self.terms.items():
            for group in term.groups:
                self.groups.setdefault(group, []).append(path)
        totals = Totals(self.parts, self.terms, self._lookup)
        for path, (term, scope) in self.terms.items():
            inputs = tuple(
                self._input(term, scope, name, marker, totals) for name, marker in term.formula.parameters.items()
            )
            self.nodes[path] = Node(path, "term", term.unit, inputs, term, None, scope)
        self._stop_on(MissingInput)
        for node in totals.nodes():
            self.nodes[node.path] = node
            self.read.update(node.inputs)
        self.aliases = totals.aliases
        for path in sorted(self.read & set(self.numbers) - set(self.nodes)):
            number = self.numbers[path]
            self.nodes[path] = Node(path, "given", number.unit, term=self.overridden.get(path), given=number)
        self._unused()
        graph = TermGraph(self.parts, self.nodes, self.aliases)
        graph.order  # noqa: B018 - names a cycle before anything else is made of it
        check_units(graph)
        return graph

    # ---- terms ------------------------------------------------------------------------------------------------
    def _place_terms(self) -> None:
        offered: dict[str, list[tuple[Term, Scope]]] = {}
        for term, roles in self.parts.offers():
            for owner, scope in self.parts.scopes(term, roles):
                path = spell(term.name, owner, scope.phase, scope.stage)
                offered.setdefault(path, []).append((term, scope))
        replaced: set[int] = set()
        for path, candidates in offered.items():
            self.terms[path] = self._winner(path, candidates, replaced)
        for term, _ in self.parts.offers():
            if term.replaces and id(term) not in replaced:
                names = {t.name for t, _ in self.parts.offers() if not t.replaces}
                self.problems.append(
                    Problem(
                        term.name,
                        f"replaces a term, but there is none to replace; {suggestion(term.name, names)}",
                        term.origin,
                    )
                )
            if term.resource is not None and term.resource not in self.parts.resources:
                self.problems.append(
                    Problem(
                        term.name,
                        f"no total collects resource {term.resource!r}; {suggestion(term.resource, self.parts.resources)}",
                        term.origin,
                    )
                )
        self._stop_on(CompositionError)

    def _winner(self, path: str, candidates: list[tuple[Term, Scope]], replaced: set[int]) -> tuple[Term, Scope]:
        bases = [c for c in candidates if not c[0].replaces]
        takers = [c for c in candidates if c[0].replaces]
        if len(bases) > 1:
            self._clash(path, bases, "write @term(..., replaces=True) on the one that takes the place of the other")
        if bases or len(takers) > 1:
            replaced.update(id(term) for term, _ in takers)
        named = {term.replaces for term, _ in takers if isinstance(term.replaces, str)}
        left = [c for c in takers if c[0].provider not in named]
        if len(left) > 1:
            self._clash(path, left, f"let one name the other: replaces={left[0][0].provider!r}")
        for term, _ in takers:
            if isinstance(term.replaces, str) and term.replaces not in {t.provider for t, _ in candidates}:
                self.problems.append(
                    Problem(
                        path,
                        f"{term.provider} replaces {term.replaces!r}, which is not here; {suggestion(term.replaces, [t.provider for t, _ in candidates])}",
                        term.origin,
                    )
                )
        return (left or takers or bases)[0]

    def _clash(self, path: str, candidates: list[tuple[Term, Scope]], advice: str) -> None:
        (one, _), (other, _) = candidates[:2]
        raise DuplicateName(
            Problem(
                path, f"both {one.provider} ({one.origin}) and {other.provider} ({other.origin}) provide it; {advice}"
            )
        )

    # ---- numbers ----------------------------------------------------------------------------------------------
    def _units(self) -> dict[str, str]:
        """The unit that a bare number of some name is taken in: that of what it overrides."""
        units = {term.name: term.unit for term, _ in self.parts.offers()}
        for term, _ in self.parts.offers():
            units.update({n: m.unit for n, m in term.formula.parameters.items() if isinstance(m, Const)})
        for fillings in self.parts.components.values():
            for component in fillings.values():
                units.update({n: c.unit for n, c in component.defaults.items()})
        units.update({parse(path)[0]: number.unit for path, number in self.parts.facts.items()})
        return units

    def _place_numbers(self) -> None:
        """Facts, then components' defaults for names that nobody set on purpose, then what was set on purpose."""
        units = self._units()
        for role, fillings in self.parts.components.items():
            stated: dict[str, tuple[str, Const]] = {}
            for component in fillings.values():
                where = f"component {component.slot.name}:{component.name}"
                for name, constant in component.defaults.items():
                    if name in stated and stated[name][1] != constant:
                        raise DuplicateName(
                            Problem(f"{role}.{name}", f"both {stated[name][0]} and {where} have a default for it")
                        )
                    stated[name] = (where, constant)
                    if not any(path in self.parts.givens for path in self.parts.scope(role=role).lookups(name)):
                        number = constant.as_given()
                        self.numbers[f"{role}.{name}"] = (
                            number if constant.source else attrs.evolve(number, source=where)
                        )
        for path, number in self.parts.givens.items():
            self.numbers[path] = _in_unit(number, units.get(parse(path)[0], ""))
        for path in set(self.terms) & {*self.parts.givens, *self.parts.facts}:
            self.overridden[path] = self.terms.pop(path)[0]

    # ---- parameters -------------------------------------------------------------------------------------------
    def _lookup(self, name: str, scope: Scope, own: str = "") -> str | None:
        for path in scope.lookups(name):
            if path != own and (path in self.terms or path in self.numbers):
                self.read.add(path)
                return path
        return None

    def _input(self, term: Term, scope: Scope, name: str, marker: Any, totals: Totals) -> str:
        owner = next(iter(scope.lookups(term.name)))
        if isinstance(marker, Of):
            return self._first(anywhere(marker.path, scope.phase, scope.stage), term, owner, marker.path)
        if isinstance(marker, Collect):
            return self._collect(term, scope, owner, marker)
        if isinstance(marker, Total):
            return totals.ask(term, scope, marker)
        found = self._lookup(name, scope, owner)
        if found is not None:
            return found
        if isinstance(marker, Const) or (marker is not None and isinstance(marker, int | float)):
            return self._constant(term, name, marker if isinstance(marker, Const) else Const(marker))
        return self._first(iter(()), term, owner, name, list(scope.lookups(name)))

    def _constant(self, term: Term, name: str, constant: Const) -> str:
        number = constant.as_given()
        number = number if number.source else attrs.evolve(number, source=f"default of {term.provider}")
        if name in self.numbers and self.numbers[name].value != number.value:
            self.problems.append(
                Problem(
                    name,
                    f"{term.provider} has the default {number.value:g}, another term has {self.numbers[name].value:g}; give one of them another name",
                    term.origin,
                )
            )
        self.numbers[name] = number
        self.read.add(name)
        return name

    def _first(self, paths: Iterator[str], term: Term, owner: str, name: str, tried: list[str] | None = None) -> str:
        tried = tried or []
        for path in paths:
            tried.append(path)
            if path != owner and (path in self.terms or path in self.numbers):
                self.read.add(path)
                return path
        short = parse(name)[0]
        promised = [slot.name for slot in self.parts.slots.values() if short in slot.promises]
        if promised:
            hint = f"slot {promised[0]!r} promises it: choose a component"
        else:
            known = {
                path.rpartition(".")[2].rpartition(":")[2]: path
                for path in sorted([*self.terms, *self.numbers], reverse=True)
            }
            close = near(short, known)
            hint = f"did you mean {' or '.join(close)}?" if close else "give it as an input, or add a term of that name"
        self.problems.append(
            Problem(
                owner, f"needs {name!r}, which nothing provides (looked for {', '.join(tried)}); {hint}", term.origin
            )
        )
        return ""

    def _collect(self, term: Term, scope: Scope, owner: str, marker: Collect) -> str:
        own = {
            "phase": scope.phase,
            "role": scope.role,
            "stage": scope.stage,
            "model": scope.model if scope.role is None else None,
            "process": scope.process if scope.role is None else None,
            "pool": scope.pool if scope.role is None and scope.process is None else None,
        }
        members = []
        for path in sorted(self.groups.get(marker.group, ())):
            where = self.terms[path][1]
            if path != owner and all(v is None or getattr(where, k) in (v, None) for k, v in own.items()):
                if marker.roles is None or where.role in marker.roles:
                    members.append(path)
        if not members:
            known = {g for t, _ in self.terms.values() for g in t.groups}
            self.problems.append(
                Problem(
                    owner,
                    f"collects group {marker.group!r}, but no term here is in it; {suggestion(marker.group, known)}",
                    term.origin,
                )
            )
            return ""
        op = "max" if marker.reduce == "max" else "sum"
        who = f" of {', '.join(marker.roles)}" if marker.roles else ""
        base = spell("", owner.rpartition(".")[0], None, None).rstrip(".") if "." in owner else ""
        path = f"{base}.{op}({marker.group}{who})" if base else f"{op}({marker.group}{who})"
        if path not in self.nodes:
            unit = self.terms[members[0]][0].unit
            self.nodes[path] = Node(path, op, unit, tuple(members), scope=scope, about=f"group {marker.group}{who}")
            self.read.update(members)
        return path

    # ---- what is left over ------------------------------------------------------------------------------------
    def _unused(self) -> None:
        for path in self.parts.givens:
            if path not in self.nodes:
                name = parse(path)[0]
                paths = [p for p in self.nodes if p.rpartition(".")[2].rpartition(":")[2] == name]
                hint = f"it is spelt {' or '.join(sorted(paths)[:4])} here" if paths else suggestion(path, self.nodes)
                self.problems.append(Problem(path, f"nothing reads this input; {hint}", self.parts.givens[path].origin))
        self._stop_on(UnusedInput)

    def _stop_on(self, kind: type[CompositionError]) -> None:
        if self.problems:
            raise kind(self.problems)


def _in_unit(number: Given, unit: str) -> Given:
    """A bare number is taken in the unit of what it overrides."""
    if number.unit or not unit:
        return number
    return attrs.evolve(
        given(number.value, unit, low=number.low, high=number.high),
        source=number.source,
        obtained=number.obtained,
        origin=number.origin,
    )
