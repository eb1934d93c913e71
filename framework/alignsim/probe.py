"""Units are checked once, when a graph is composed: every formula runs on probe quantities of pint."""

from __future__ import annotations

from numbers import Real
from typing import Any

from alignsim.errors import CompositionError, Problem, UnitError
from alignsim.graph import Node, TermGraph
from alignsim.units import base_unit, dimension, quantity

_CHECKED: dict[tuple[Any, ...], str | None] = {}
_PROBES = ((3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0), (29.0, 2.0, 31.0, 37.0, 41.0, 43.0, 47.0, 53.0))


def check_units(graph: TermGraph) -> None:
    """Check that every formula gives the dimension it declares, and that totals add up like with like.

    A formula is run once for each combination of input dimensions, once a process.

    Raises:
        UnitError: all formulas that do not.
    """
    problems = []
    for path in graph.order:
        node = graph.nodes[path]
        message = _term_problem(graph, node) if node.kind == "term" else _total_problem(graph, node)
        if message:
            problems.append(Problem(path, message, node.term.origin if node.term else None))
    if problems:
        raise UnitError(problems)


def _total_problem(graph: TermGraph, node: Node) -> str | None:
    if node.kind == "given":
        if node.term is not None and node.given is not None and dimension(node.unit) != dimension(node.term.unit):
            meant = node.term.unit or "a plain number"
            return f"is given in {node.unit or 'a plain number'}, but the term it overrides is in {meant}"
        return None
    members = node.inputs[:1] if node.kind == "masked" else node.inputs
    units = {dimension(graph.nodes[m].unit): graph.nodes[m].unit or "a plain number" for m in members}
    units[dimension(node.unit)] = node.unit or "a plain number"
    if len(units) > 1:
        return f"its members measure different things: {', '.join(sorted(units.values()))}"
    return None


def _term_problem(graph: TermGraph, node: Node) -> str | None:
    assert node.term is not None
    formula = node.term.formula
    formula.expression  # noqa: B018 - refuses what leaves the language
    units = tuple(base_unit(graph.nodes[path].unit) for path in node.inputs)
    key = (formula.function, units, dimension(node.term.unit))
    if key not in _CHECKED:
        _CHECKED[key] = _run(node, units)
    return _CHECKED[key]


def _run(node: Node, units: tuple[str, ...]) -> str | None:
    assert node.term is not None
    term = node.term
    given = ", ".join(f"{name} in {unit}" for name, unit in zip(term.formula.parameters, units, strict=True) if unit)
    for magnitudes in _PROBES:
        values = [
            quantity(magnitudes[i % 8] + i // 8, unit) if unit else magnitudes[i % 8] + i // 8
            for i, unit in enumerate(units)
        ]
        try:
            answer: Any = term.formula.function(*values)
        except ZeroDivisionError:
            continue
        except CompositionError:
            raise
        except Exception as error:
            return f"{term.formula.equation} does not go together with {given or 'plain numbers'}: {error}"
        if not hasattr(answer, "dimensionality") and not isinstance(answer, Real):
            return f"{term.formula.equation} gives {answer!r}, which is not a number"
        found = str(getattr(answer, "dimensionality", "dimensionless"))
        if found != dimension(term.unit) and not (isinstance(answer, int | float) and answer == 0):
            return f"declares {term.unit or 'a plain number'}, but {term.formula.equation} gives {found}" + (
                f" (with {given})" if given else ""
            )
        return None
    return f"{term.formula.equation} divides by zero for ordinary inputs"
