"""The numbers that go into a graph: facts of descriptions, defaults of components, and what somebody set on purpose."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from alignsim.errors import DuplicateName, Problem
from alignsim.given import Given, given
from alignsim.parts import Parts
from alignsim.placing import Placed
from alignsim.scope import parse
from alignsim.term import Const


def numbers(parts: Parts, terms: Mapping[str, Placed]) -> dict[str, Given]:
    """Return every number by path. What is set on purpose wins over defaults, and those over nothing.

    A component's default stands at its role, unless the number was set for that role on purpose, from however far.

    Raises:
        DuplicateName: two components of one role have different defaults for a name.
    """
    found = dict(parts.facts)
    for role, fillings in parts.components.items():
        stated: dict[str, tuple[str, Const]] = {}
        for component in fillings.values():
            where = f"component {component.slot.name}:{component.name}"
            for name, constant in component.defaults.items():
                known, value = stated.setdefault(name, (where, constant))
                if value != constant:
                    raise DuplicateName(Problem(f"{role}.{name}", f"both {known} and {where} have a default for it"))
                if not any(path in parts.givens for path in parts.scope(role=role).lookups(name)):
                    found[f"{role}.{name}"] = from_const(constant, where)
    units = _units(parts, terms)
    for path, number in parts.givens.items():
        found[path] = _in_unit(number, units.get(parse(path)[0], ""))
    return found


def from_const(constant: Const, where: str) -> Given:
    """Return a constant as a number; where it names no source, its home is the source."""
    number = constant.as_given()
    return number if constant.source else attrs.evolve(number, source=f"default of {where}")


def _units(parts: Parts, terms: Mapping[str, Placed]) -> dict[str, str]:
    """The unit in which a bare number of some name is taken: that of what it overrides."""
    units = {term.name: term.unit for term, _ in terms.values()}
    for term, _ in terms.values():
        units.update({n: m.unit for n, m in term.formula.parameters.items() if isinstance(m, Const)})
    for fillings in parts.components.values():
        for component in fillings.values():
            units.update({name: constant.unit for name, constant in component.defaults.items()})
    units.update({parse(path)[0]: number.unit for path, number in parts.facts.items()})
    return units


def _in_unit(number: Given, unit: str) -> Given:
    if number.unit or not unit:
        return number
    meant = given(number.value, unit, low=number.low, high=number.high)
    return attrs.evolve(number, value=meant.value, unit=unit, low=meant.low, high=meant.high)
