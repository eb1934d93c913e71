"""A graph compiled for some outputs: generated straight-line Python, one call a formula.

One configuration is plain Python on floats and needs no NumPy. Many at once are :mod:`alignsim.sweep`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from alignsim.errors import InvalidInput, Problem
from alignsim.graph import Node, TermGraph
from alignsim.units import human

if TYPE_CHECKING:
    from alignsim.kernel import Kernel

PIECE = 64


@attrs.frozen(eq=False, repr=False)
class Plan:
    """What a graph needs for its outputs, in order.

    Attributes:
        graph: the graph.
        outputs: the paths asked for, resolved.
    """

    graph: TermGraph
    outputs: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Plan({', '.join(self.outputs[:3])}{', ...' * (len(self.outputs) > 3)} of {self.graph!r})"

    @classmethod
    def of(cls, graph: TermGraph, outputs: Iterable[str]) -> Plan:
        """Return the plan for the outputs.

        Raises:
            UnknownName: an output is not a value of the graph.
        """
        return cls(graph, tuple(graph.resolve(path) for path in outputs))

    @cached_property
    def order(self) -> tuple[str, ...]:
        """All that is needed, in topological order."""
        return self.graph.needed(self.outputs)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The givens that are needed, in the order in which ``run`` takes their values."""
        return tuple(path for path in self.order if self.graph.nodes[path].kind == "given")

    def values(self, end: str = "expected") -> list[float]:
        """Return the givens' values at the ``low``, ``expected`` or ``high`` end of their ranges."""
        if end not in self._ends:
            givens = (self.graph.nodes[path].given for path in self.inputs)
            self._ends[end] = tuple(number.at(end) for number in givens if number is not None)
        return list(self._ends[end])

    @cached_property
    def _ends(self) -> dict[str, tuple[float, ...]]:
        return {}

    @cached_property
    def kernels(self) -> dict[tuple[str, ...], Kernel]:
        """The plan specialised for the givens that sweeps have varied so far."""
        return {}

    @cached_property
    def _generated(self) -> tuple[Callable[[Sequence[float]], tuple[float, ...]], str, dict[int, str]]:
        namespace: dict[str, Any] = {}
        names = {path: f"a{i}" for i, path in enumerate(self.inputs)}
        lines = ["def run(values):", f"    {_targets(names.values())} = values"]
        where: dict[int, str] = {}
        known: dict[tuple[Any, ...], str] = {}
        for i, path in enumerate(p for p in self.order if p not in names):
            node = self.graph.nodes[path]
            arguments = tuple(names[source] for source in node.inputs)
            if _hands_on(node):
                names[path] = arguments[0]
                continue
            key = (node.kind, node.term.formula.function if node.term else None, arguments)
            if key in known:
                names[path] = known[key]
                continue
            names[path] = known[key] = target = f"v{i}"
            for line in _statements(node, target, arguments, namespace):
                lines.append("    " + line)
                where[len(lines)] = path
        # + 0.0 makes a float of a truth value or a whole number, and 0.0 of -0.0
        lines.append(f"    return ({''.join(names[path] + ' + 0.0, ' for path in self.outputs)})")
        source = "\n".join(lines) + "\n"
        exec(compile(source, "<alignsim plan>", "exec"), namespace)
        return namespace["run"], source, where

    @property
    def run(self) -> Callable[[Sequence[float]], tuple[float, ...]]:
        """The generated function: values of ``inputs`` in, values of ``outputs`` out, nothing checked."""
        return self._generated[0]

    @property
    def source(self) -> str:
        """The generated code."""
        return self._generated[1]

    def evaluate(self, end: str = "expected", changes: Mapping[str, float] | None = None) -> dict[str, float]:
        """Return the outputs by path, with ``changes`` to some givens.

        Raises:
            InvalidInput: a formula divides by zero, or a value is not a finite number.
        """
        values = self.values(end)
        if changes:
            values = [changes.get(path, value) for path, value in zip(self.inputs, values, strict=True)]
        answers = self.answers(values)
        found = dict(zip(self.outputs, answers, strict=True))
        if not all(map(math.isfinite, answers)):
            raise self._not_finite(found, dict(zip(self.inputs, values, strict=True)))
        return found

    def answers(self, values: Sequence[float]) -> tuple[float, ...]:
        """Return the values of the outputs, finite or not, for the values of the inputs.

        Raises:
            InvalidInput: a formula divides by zero.
        """
        try:
            return self.run(values)
        except ArithmeticError as error:
            raise self._located(error, dict(zip(self.inputs, values, strict=True))) from error

    def _not_finite(self, answers: Mapping[str, float], values: Mapping[str, float]) -> InvalidInput:
        path, answer = next((path, answer) for path, answer in answers.items() if not math.isfinite(answer))
        return InvalidInput(Problem(path, f"is {answer}, not a finite number ({self._because(path, values)})"))

    def _located(self, error: ArithmeticError, values: Mapping[str, float]) -> InvalidInput:
        where = self._generated[2]
        trace = error.__traceback__
        path = None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == "<alignsim plan>":
                path = where.get(trace.tb_lineno, path)
            trace = trace.tb_next
        if path is None:
            return InvalidInput(str(error))
        term = self.graph.nodes[path].term
        return InvalidInput(Problem(path, f"{error} ({self._because(path, values)})", term.origin if term else None))

    def _because(self, path: str, values: Mapping[str, float]) -> str:
        node = self.graph.nodes[path]
        equation = node.term.formula.equation if node.term else node.kind
        known = [f"{p} = {human(values[p], self.graph.nodes[p].unit)}" for p in node.inputs if p in values]
        return f"{equation}" + (f", where {', '.join(known)}" if known else "")


def _hands_on(node: Node) -> bool:
    """Whether a value is its one input's."""
    if node.kind == "term" and node.term is not None:
        return len(node.inputs) == 1 and isinstance(node.term.formula.expression, ast.Name)
    return len(node.inputs) == 1


def _targets(names: Iterable[str]) -> str:
    return f"({''.join(name + ', ' for name in names)})" if names else "()"


def _statements(node: Node, target: str, arguments: Sequence[str], namespace: dict[str, Any]) -> list[str]:
    if node.kind == "term":
        assert node.term is not None
        function = f"f{len(namespace)}"
        namespace[function] = node.term.formula.function
        return [f"{target} = {function}({', '.join(arguments)})"]
    if node.kind == "sum":  # from left to right; in pieces, since Python's parser nests
        pieces = [arguments[i : i + PIECE] for i in range(0, len(arguments), PIECE)]
        return [f"{target} = {' + '.join([target] * (i > 0) + [*piece])}" for i, piece in enumerate(pieces)]
    if node.kind == "masked":
        return [f"{target} = {arguments[0]} if {arguments[1]} > 0 else 0.0"]
    first, *rest = dict.fromkeys(arguments)
    return [f"{target} = {first}", *(f"if {o} > {target} or {o} != {o}: {target} = {o}" for o in rest)]
