"""Every term at every place it belongs; where several want one place, who takes it."""

from __future__ import annotations

from typing import NoReturn

from alignsim.algorithm import ACTIVITIES
from alignsim.errors import CompositionError, DuplicateName, Problem, near, suggestion
from alignsim.parts import Parts
from alignsim.scope import Scope, spell
from alignsim.term import Term

Placed = tuple[Term, Scope]


def place(parts: Parts) -> dict[str, Placed]:
    """Return every placed term by path, replacements done.

    Raises:
        DuplicateName: two terms want one place, and neither replaces the other.
        CompositionError: a term replaces nothing, or takes up a resource that no total collects.
    """
    offered: dict[str, list[Placed]] = {}
    offers = list(parts.offers())
    for term, roles in offers:
        for owner, scope in parts.scopes(term, roles):
            offered.setdefault(spell(term.name, owner, scope.phase, scope.stage), []).append((term, scope))
    replacing: set[int] = set()
    problems: list[Problem] = []
    placed = {path: _winner(path, wanted, replacing, problems) for path, wanted in offered.items()}
    names = {term.name for term, _ in offers if not term.replaces}
    for term, _ in offers:
        if term.replaces and id(term) not in replacing:
            hint = suggestion(term.name, names)
            problems.append(Problem(term.name, f"replaces a term, but there is none to replace; {hint}", term.origin))
        known = set(ACTIVITIES).union(*(parts.algorithm.activities(role) for role in parts.algorithm.roles))
        for activity in sorted((term.during or set()) - known):
            if near(activity, known):  # else it may be another algorithm's own
                message = f"exists during {activity!r}, which no role does; {suggestion(activity, known)}"
                problems.append(Problem(term.name, message, term.origin))
        if term.resource is not None and term.resource not in parts.resources:
            hint = suggestion(term.resource, parts.resources)
            problems.append(Problem(term.name, f"no total collects resource {term.resource!r}; {hint}", term.origin))
    if problems:
        raise CompositionError(problems)
    return placed


def _winner(path: str, wanted: list[Placed], replacing: set[int], problems: list[Problem]) -> Placed:
    """Return who takes a path: the term that replaces, else the only one there is."""
    bases = [w for w in wanted if not w[0].replaces]
    takers = [w for w in wanted if w[0].replaces]
    if len(bases) > 1:
        _clash(path, bases, "write @term(..., replaces=True) on the one that takes the place of the other")
    providers = {term.provider for term, _ in wanted}
    for term, _ in takers:
        if bases or len(takers) > 1:
            replacing.add(id(term))
        if isinstance(term.replaces, str) and term.replaces not in providers:
            hint = suggestion(term.replaces, providers - {term.provider})
            problems.append(
                Problem(path, f"{term.provider} replaces {term.replaces!r}, which is not here; {hint}", term.origin)
            )
    superseded = {term.replaces for term, _ in takers}
    left = [w for w in takers if w[0].provider not in superseded]
    if len(left) > 1 or (takers and not left):
        _clash(path, left or takers, f"let one name the other: replaces={(left or takers)[0][0].provider!r}")
    return (left or bases)[0]


def _clash(path: str, wanted: list[Placed], advice: str) -> NoReturn:
    (one, _), (other, _) = wanted[:2]
    who = f"both {one.provider} ({one.origin}) and {other.provider} ({other.origin}) provide it"
    raise DuplicateName(Problem(path, f"{who}; {advice}"))
