"""Runs that nobody can do: terms that say so by being above 0, checked once a graph is composed and in every sweep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from alignsim.errors import InvalidInput, Problem, RefusedRun
from alignsim.graph import TermGraph
from alignsim.plan import Plan
from alignsim.units import human

if TYPE_CHECKING:
    from alignsim.sweep import Sweep


def refusing(graph: TermGraph) -> tuple[str, ...]:
    """Return the paths of all terms that may refuse a run."""
    return tuple(path for path, node in graph.nodes.items() if node.kind == "term" and node.term and node.term.refuses)


def check_refusals(graph: TermGraph) -> None:
    """Refuse what a graph was composed for, if one of its terms does.

    Raises:
        RefusedRun: what each of those terms says, with the numbers that it was computed from.
    """
    paths = refusing(graph)
    if not paths:
        return
    plan = Plan(graph, paths)
    values = dict(zip(plan.inputs, plan.values(), strict=True))
    answers = dict(zip(paths, plan.answers(list(values.values())), strict=True))
    problems = {_message(graph, path, values): path for path in paths if answers[path] > 0}
    if problems:
        raise RefusedRun([Problem(path, message) for message, path in problems.items()])


def check_rows(swept: Sweep) -> None:
    """Refuse a sweep that has such rows.

    Raises:
        InvalidInput: what the first term says of its first row.
    """
    from alignsim.sweep import sweep

    graph = swept.plan.graph
    paths = refusing(graph)
    plan = Plan(graph, paths)
    varying = {path: column for path, column in swept.columns.items() if path in plan.inputs}
    if not varying:
        return
    answers = sweep(plan, varying)
    values: dict[str, float] = dict(zip(plan.inputs, plan.values(), strict=True))
    for path in paths:
        wrong: Any = (answers[path] > 0).nonzero()[0]
        if len(wrong):
            row = int(wrong[0])
            here = values | {name: float(column[row]) for name, column in varying.items()}
            raise InvalidInput(Problem(path, f"row {row}: {_message(graph, path, here)}"))


def _message(graph: TermGraph, path: str, values: Mapping[str, float]) -> str:
    node = graph.nodes[path]
    assert node.term is not None
    known = _numbers(graph, path, values, set())
    return node.term.refuses + (f" ({', '.join(known)})" if known else "")


def _numbers(graph: TermGraph, path: str, values: Mapping[str, float], seen: set[str]) -> list[str]:
    """The numbers that a value follows from, spelt by their names."""
    found: list[str] = []
    for source in graph.nodes[path].inputs:
        if source in seen:
            continue
        seen.add(source)
        if source in values:
            found.append(f"{source.rpartition('.')[2]} {human(values[source], graph.nodes[source].unit)}")
        else:
            found += _numbers(graph, source, values, seen)
    return found
