"""A number that differs from phase to phase, and what of a role follows from it in that phase.

``score:policy.micro_batch`` is the policy's micro-batch while it scores. Terms that are one for a role in all phases,
such as the tokens of a forward, then have a value of their own in that phase, for those that read them there. What a
role holds in all phases follows the number for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from alignsim.errors import CompositionError, Problem
from alignsim.given import Given
from alignsim.parts import Parts
from alignsim.placing import Placed
from alignsim.scope import Scope, parse, spell
from alignsim.term import Collect, Of, Term, Total


def by_phase(parts: Parts, placed: Mapping[str, Placed], numbers: Mapping[str, Given]) -> dict[str, Placed]:
    """Return the terms that a number of a phase gives a value of their own there, by path; nobody need read them.

    Args:
        parts: what is composed.
        placed: all terms by path.
        numbers: all numbers by path.

    Raises:
        CompositionError: a number of a phase would change what is added up for all phases.
    """
    own = [path for path in parts.givens if parse(path)[2] and path not in placed]
    found: dict[str, Placed] = {}
    for phase in dict.fromkeys(parse(path)[2] for path in own):
        starts = frozenset(path for path in own if parse(path)[2] == phase)
        found |= _of_phase(str(phase), starts, placed, numbers)
    told = ", ".join(sorted(own))
    problems = [
        Problem(
            path,
            f"is in group {term.groups[0]!r}, which is added up for all phases, and differs by {told}",
            term.origin,
        )
        for path, (term, _) in found.items()
        if term.groups
    ]
    if problems:
        raise CompositionError(problems)
    return found


def _of_phase(
    phase: str, starts: frozenset[str], placed: Mapping[str, Placed], numbers: Mapping[str, Given]
) -> dict[str, Placed]:
    """Return terms whose nearest inputs are numbers of the phase, and those that read such terms, and so on."""
    rest = {
        path: (term, scope)
        for path, (term, scope) in placed.items()
        if scope.role and scope.phase is None and not term.resource and not term.condition
    }
    found: dict[str, Placed] = {}
    grown = True
    while grown:
        grown = False
        for path, (term, scope) in list(rest.items()):
            there = attrs.evolve(scope, phase=phase)
            if any(_nearest(name, there, placed, numbers, found) in (starts | found.keys()) for name in _names(term)):
                found[spell(term.name, str(scope.role), phase, scope.stage)] = (term, there)
                del rest[path]
                grown = True
    return found


def _names(term: Term) -> Iterator[str]:
    markers = term.formula.parameters.items()
    yield from (name for name, marker in markers if not isinstance(marker, Collect | Total | Of))


def _nearest(
    name: str, scope: Scope, placed: Mapping[str, Placed], numbers: Mapping[str, Given], found: Mapping[str, Placed]
) -> str:
    return next((path for path in scope.lookups(name) if path in found or path in placed or path in numbers), "")
