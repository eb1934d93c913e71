"""Small graphs for tests: terms from text, an algorithm or two, one resource, and a brute-force total."""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from itertools import count
from typing import Any

from alignsim import Activity, Algorithm, Parts, Resource, Term, maths, term
from alignsim.compose import compose
from alignsim.given import Given, given
from alignsim.graph import TermGraph
from alignsim.plan import Plan

TRAIN = Activity("train", ("forward", "backward_start", "backward_end", "optimizer_step"))
INFER = Activity("infer", ("forward",))
"""Activities with few moments, so that a table can be followed by hand."""
DEVICE = Resource(name="device", unit="byte")
PAIR = Algorithm(name="PAIR", phases={"update": {"policy": TRAIN, "reference": INFER}})
LONE = Algorithm(name="LONE", phases={"update": {"policy": TRAIN}})

_number = count()


def written(source: str, name: str = "f", **names: Any) -> Any:
    """Return a function from source text that can be read back, as a file's or a notebook's can."""
    filename = f"<written-{next(_number)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"maths": maths, "__name__": "written", **names}
    exec(compile(source, filename, "exec"), namespace)
    return namespace[name]


def formula(name: str, parameters: str, expression: str) -> Any:
    return written(f"def {name}({parameters}):\n    return {expression}\n", name)


def terms_of(*lines: str, unit: str = "", **options: Any) -> tuple[Term, ...]:
    """Return terms from lines such as ``y(a, b) = a + b``."""
    made = []
    for line in lines:
        head, _, expression = line.partition(" = ")
        name, _, parameters = head.rstrip(")").partition("(")
        made.append(term(unit, **options)(formula(name, parameters, expression)))
    return tuple(made)


def numbers(values: Mapping[str, Any]) -> dict[str, Given]:
    return {path: value if isinstance(value, Given) else given(value) for path, value in values.items()}


def parts_of(*terms: Term, givens: Mapping[str, Any] | None = None, **changes: Any) -> Parts:
    fields: dict[str, Any] = {"algorithm": LONE, "resources": {"device": DEVICE}}
    return Parts(terms=terms, givens=numbers(givens or {}), **(fields | changes))


def graph_of(*terms: Term, givens: Mapping[str, Any] | None = None, **changes: Any) -> TermGraph:
    return compose(parts_of(*terms, givens=givens, **changes))


def values_of(graph: TermGraph) -> dict[str, float]:
    return Plan.of(graph, graph.order).evaluate()
