"""A number's history: the tree from a value back to what went in, each step with its formula and source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from alignsim.graph import Node, TermGraph
from alignsim.units import human


@attrs.frozen
class Explanation:
    """One value and what it was made of.

    Attributes:
        path: how the value was asked for.
        node: its node.
        value: in base units.
        equation: how it follows from its inputs.
        inputs: the explanations of the inputs, by the name that the formula gives them.
        again: it was explained further up already, so its inputs are left out.
    """

    path: str
    node: Node
    value: float
    equation: str
    inputs: tuple[tuple[str, Explanation], ...] = ()
    again: bool = False

    @property
    def origin(self) -> str:
        """Where a given is from, or the source of a formula; empty for totals."""
        if self.node.given is not None:
            given = self.node.given
            parts = [given.source, f"({given.obtained})" if given.obtained not in ("stated", "default") else ""]
            parts += [f"at {given.origin}"] if given.origin else []
            if self.node.term is not None:
                parts.append(f"instead of {self.node.term.formula.equation} by {self.node.term.provider}")
            return " ".join(part for part in parts if part)
        return self.node.term.source if self.node.term else ""

    def lines(self, indent: str = "", name: str = "") -> Iterator[str]:
        """Yield the tree as text, one value a line."""
        label = self.path if name in ("", self.path, self.path.rpartition(".")[2]) else f"{name}: {self.path}"
        text = f"{indent}{label} = {human(self.value, self.node.unit)}"
        if self.equation:
            text += f"  = {self.equation}"
        if self.origin:
            text += f"  [{self.origin}]"
        if self.again:
            text += "  (explained above)"
        yield text
        for parameter, explanation in self.inputs:
            yield from explanation.lines(indent + "  ", parameter)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        found: dict[str, Any] = {
            "path": self.path,
            "value": self.value,
            "unit": self.node.unit,
            "kind": self.node.kind,
        }
        if self.equation:
            found["equation"] = self.equation
        if self.node.term is not None:
            found["summary"] = self.node.term.formula.summary
            found["provider"] = self.node.term.provider
        if self.origin:
            found["source"] = self.origin
        if self.node.given is not None and self.node.given.ranged:
            found["low"], found["high"] = self.node.given.at("low"), self.node.given.at("high")
        if self.inputs:
            found["inputs"] = {name: explanation.to_dict() for name, explanation in self.inputs}
        return found


def explain(graph: TermGraph, values: Mapping[str, float], path: str, depth: int | None = None) -> Explanation:
    """Return the history of the value at ``path``, ``depth`` steps back (all the way if None).

    Raises:
        UnknownName: no value is spelt like that.
    """
    seen: set[str] = set()

    def walk(where: str, left: int | None) -> Explanation:
        node = graph.nodes[where]
        again = where in seen and bool(node.inputs)
        seen.add(where)
        inputs: list[tuple[str, Explanation]] = []
        if not again and left != 0:
            members = (
                list(zip(node.term.formula.parameters, node.inputs, strict=True))
                if node.kind == "term" and node.term
                else [("", source) for source in node.inputs]
            )
            if node.kind in ("sum", "max"):
                members.sort(key=lambda member: (-values[member[1]], member[1]))
            inputs = [(name or source, walk(source, None if left is None else left - 1)) for name, source in members]
        return Explanation(where, node, values[where], _equation(graph, node), tuple(inputs), again)

    return attrs.evolve(walk(graph.resolve(path), depth), path=path)


def _equation(graph: TermGraph, node: Node) -> str:
    if node.kind == "term" and node.term is not None:
        source = graph.nodes[node.inputs[0]] if node.inputs else None
        if isinstance(node.term.formula.expression, ast.Name) and source and source.kind in ("sum", "max"):
            return _equation(graph, source)  # hands on what it collects, which says what it is
        return node.term.formula.equation
    if node.kind == "sum":
        return f"sum of {node.about}" if node.about else "sum"
    if node.kind == "max":
        return f"largest of {node.about}" if node.about else "largest"
    return node.about if node.kind == "masked" else ""
