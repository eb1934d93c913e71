"""Every number held to the limits of whoever declares or reads it, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import attrs

from alignsim.component import NONE
from alignsim.errors import CompositionError, Problem
from alignsim.given import Given
from alignsim.graph import Node
from alignsim.limits import SIZE, Limit
from alignsim.parts import Parts
from alignsim.scope import Scope, parse
from alignsim.term import Const, Term
from alignsim.units import dimension


def bounded(
    parts: Parts, numbers: Mapping[str, Given], placed: Mapping[str, tuple[Term, Scope]], nodes: Iterable[Node]
) -> dict[str, Given]:
    """Return the numbers with what they are held to: limits whose other numbers are paths.

    Limits come from the field that a number was given in, from the default that it stands in for, from the component
    or slot that asks something of it, from the parameter that reads it, and from the term in whose place it stands.
    Amounts of which nobody says anything are at least 0, and so is whatever stands in for a term.

    Args:
        parts: what the graph is composed of.
        numbers: all numbers by path.
        placed: all terms by path, also those that a number stands in for.
        nodes: the terms, with the paths that their parameters read.

    Raises:
        CompositionError: numbers that are not within their limits; every one is told.
    """
    finder = _Finder(parts, numbers, {path: value for path, value in placed.items() if path not in numbers})
    found: dict[str, dict[Limit, None]] = {}
    for path, limit in _wishes(parts, finder, nodes):
        found.setdefault(path, {})[limit] = None
    for path, limit in _in_the_place_of_terms(numbers, placed):
        found.setdefault(path, {})[limit] = None
    fields: dict[str, dict[Limit, None]] = {}
    for path, number in parts.facts.items():  # a number set in the place of a field is held to the same
        fields.setdefault(parse(path)[0], {}).update(dict.fromkeys(number.limits))
    for path, number in numbers.items():
        for limit in {**fields.get(parse(path)[0], {}), **dict.fromkeys(number.limits)}:
            scopes = finder.readers(path) if limit.names else [Scope()]
            found.setdefault(path, {}).update(dict.fromkeys(finder.resolved(limit, scope) for scope in scopes))
    held = {path: _held(number, _sorted(found.get(path) or _usual(number))) for path, number in numbers.items()}
    problems = [problem for path, number in held.items() for problem in _broken(path, number, numbers)]
    if problems:
        raise CompositionError(problems)
    return held


def _wishes(parts: Parts, finder: _Finder, nodes: Iterable[Node]) -> Iterator[tuple[str, Limit]]:
    """Yield what components, slots, defaults and parameters ask of numbers."""
    for role, fillings in parts.components.items():
        scope = parts.scope(role=role)
        for component in fillings.values():
            slot, by = component.slot, f"with {component.slot.name} {component.name!r}"
            asked = [(name, constant.limit, by) for name, constant in component.defaults.items()]
            asked += [(name, limit, by) for name, limit in component.limits.items()]
            if component.name != NONE:
                asked += [(name, limit, f"for slot {slot.name!r}") for name, limit in slot.limits.items()]
            for name, limit, who in asked:
                for path in finder.hits(name, scope):
                    yield path, finder.resolved(_asked(limit, who), scope)
    for node in nodes:
        if node.term is not None:
            markers = node.term.formula.parameters.values()
            for marker, path in zip(markers, node.inputs, strict=True):
                if isinstance(marker, Const) and path in finder.numbers:
                    yield path, finder.resolved(_asked(marker.limit, f"in {node.term.provider}"), node.scope)


def _in_the_place_of_terms(
    numbers: Mapping[str, Given], placed: Mapping[str, tuple[Term, Scope]]
) -> Iterator[tuple[str, Limit]]:
    """Yield what the terms of a number's name say of what they give, at whichever place it stands."""
    named: dict[str, list[str]] = {}
    for path in numbers:
        named.setdefault(parse(path)[0], []).append(path)
    for term, _ in placed.values():
        for path in named.get(term.name, ()):
            yield path, term.bounds


@cache
def _asked(limit: Limit, by: str) -> Limit:
    return attrs.evolve(limit, by=by)


class _Finder:
    """Finds the numbers that a name means."""

    def __init__(self, parts: Parts, numbers: Mapping[str, Given], terms: Mapping[str, tuple[Term, Scope]]) -> None:
        self.parts, self.numbers, self.terms = parts, numbers, terms
        self.places: dict[str, set[tuple[str | None, str | None]]] = {}
        for path in numbers:
            name, _, phase, stage = parse(path)
            self.places.setdefault(name, {(None, None)}).add((phase, stage))

    def hits(self, name: str, scope: Scope) -> list[str]:
        """Return the numbers that a name means to a role: one, or one for some phase or kind of rank besides."""
        places = self.places.get(name, set())
        within = [attrs.evolve(scope, phase=phase, stage=stage) for phase, stage in places if phase or stage]
        nearest = [self.nearest(name, each) for each in ([scope, *within] if places else [])]
        return sorted({path for path in nearest if path is not None})

    def nearest(self, name: str, scope: Scope) -> str | None:
        """Return the number that a name means in a scope; None if it means a term, or nothing."""
        path = next((p for p in scope.lookups(name) if p in self.numbers or p in self.terms), None)
        return path if path in self.numbers else None

    def readers(self, path: str) -> list[Scope]:
        """Return the scopes of the roles to which a number is the nearest of its name."""
        name, _, phase, stage = parse(path)
        scopes = [self.parts.scope(phase=phase, role=role, stage=stage) for role in self.parts.algorithm.roles]
        return [scope for scope in scopes if self.nearest(name, scope) == path]

    def resolved(self, limit: Limit, scope: Scope) -> Limit:
        """Return a limit with paths in the place of names; what names no number is left out."""
        if not limit.names:
            return limit
        changed = {}
        for end, none in (("least", None), ("most", None), ("divides", ""), ("fits", "")):
            name = getattr(limit, end)
            if isinstance(name, str) and name:
                changed[end] = self.nearest(name, scope) or none
        return attrs.evolve(limit, **changed)  # type: ignore[arg-type]


def _held(number: Given, limits: tuple[Limit, ...]) -> Given:
    return number if limits == number.limits else attrs.evolve(number, limits=limits)


def _usual(number: Given) -> tuple[Limit, ...]:
    """What a number is held to of which nobody says anything: an amount of something is not less than nothing."""
    return () if dimension(number.unit) == "dimensionless" else (SIZE,)


def _sorted(limits: Iterable[Limit]) -> tuple[Limit, ...]:
    """Return the limits in one order, without those that follow from another."""
    found = tuple(limits)
    if len(found) == 1:
        return found
    kept: list[Limit] = []
    for limit in sorted(found, key=repr):
        if not any(limit.follows_from(other) for other in kept):
            kept = [*(other for other in kept if not other.follows_from(limit)), limit]
    return tuple(kept)


def _broken(path: str, number: Given, numbers: Mapping[str, Given]) -> Iterator[Problem]:
    """Yield each rule that a number breaks, at whichever end of its range, once."""
    told: set[str] = set()
    for limit in number.limits:
        others = {name: numbers[name].value for name in limit.names}
        for end in ("expected", "low", "high"):
            value = number.at(end)
            for rule, broken in limit.rules(value, others):
                if broken and rule not in told:
                    told.add(rule)
                    where = "" if number.source in ("user", "default") else f" ({number.source})"
                    yield Problem(path, limit.message(rule, f"{value:g}{where}"), number.origin)
