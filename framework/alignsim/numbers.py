"""The numbers that go into a graph: facts of descriptions, defaults of components, and what somebody set on purpose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from alignsim.errors import DuplicateName, Problem, UnitError
from alignsim.given import Given, given
from alignsim.parts import Parts
from alignsim.placing import Placed
from alignsim.scope import parse, spell
from alignsim.term import Const
from alignsim.units import dimension, factor


def numbers(parts: Parts, terms: Mapping[str, Placed]) -> dict[str, Given]:
    """Return every number by path. What is set on purpose wins over defaults, and those over nothing.

    A component's default stands at its role, unless the number was set for that role on purpose, from however far.

    Raises:
        DuplicateName: two components of one role have different defaults for a name.
        UnitError: all bare numbers whose unit nobody can know, and those in another unit than what they override.
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
            for stage in component.stages:
                for name, so in stage.numbers.items():
                    found[spell(name, role, None, stage.name)] = Given(float(so), source=f"kind of rank of {where}")
    units = _units(parts, terms)
    wrong: list[Problem] = []
    for path, number in parts.givens.items():
        name = parse(path)[0]
        meant = {terms[path][0].unit} if path in terms else units.get(name, set())
        if number.unit and meant and dimension(number.unit) not in map(dimension, meant):
            wrong.append(Problem(path, f"is in {number.unit}, but {name!r} is in {_spelt(meant)}", number.origin))
        if not number.unit and len({(dimension(unit), factor(unit)) for unit in meant if len(meant) > 1}) > 1:
            wrong.append(Problem(path, f"needs its unit: {name!r} is in {_spelt(meant)} here", number.origin))
        found[path] = _in_unit(number, min(meant, default=""))
    if wrong:
        raise UnitError(wrong)
    return found


def _spelt(units: Iterable[str]) -> str:
    return " and ".join(sorted(unit or "a plain number" for unit in units))


def from_const(constant: Const, where: str) -> Given:
    """Return a constant as a number; where it names no source, its home is the source."""
    number = constant.as_given()
    return number if constant.source else attrs.evolve(number, source=f"default of {where}")


def _units(parts: Parts, terms: Mapping[str, Placed]) -> dict[str, set[str]]:
    """The units in which a bare number of some name may be meant: those of what it overrides."""
    units: dict[str, set[str]] = {}
    for term, _ in terms.values():
        units.setdefault(term.name, set()).add(term.unit)
        for name, marker in term.formula.parameters.items():
            if isinstance(marker, Const):
                units.setdefault(name, set()).add(marker.unit)
    for fillings in parts.components.values():
        for component in fillings.values():
            for name, constant in component.defaults.items():
                units.setdefault(name, set()).add(constant.unit)
    for path, number in parts.facts.items():
        units.setdefault(parse(path)[0], set()).add(number.unit)
    return units


def _in_unit(number: Given, unit: str) -> Given:
    if number.unit or not unit:
        return number
    meant = given(number.value, unit, low=number.low, high=number.high)
    return attrs.evolve(number, value=meant.value, unit=unit, low=meant.low, high=meant.high)
