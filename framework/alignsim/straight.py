"""Straight-line NumPy code for expressions: every operation once, every result into memory that is there already.

An operation is one call, such as ``multiply(a0, a1, out=o7)``. What is asked for is written where it belongs, all
else into scratch chunks, which are used again after the last use of what they hold.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import attrs

_OPERATIONS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.USub: "negative",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
}
_IN_PLACE = frozenset(
    {"add", "subtract", "multiply", "divide", "negative", "minimum", "maximum", "ceil", "floor", "sqrt"}
)
UFUNCS = frozenset(_OPERATIONS.values()) | _IN_PLACE
_HANDED_ON = frozenset({"add", "subtract", "multiply", "negative", "ceil", "floor"})  # what is not finite stays so


@attrs.frozen
class Step:
    """One operation: the value it makes, the function, and the values and constants that it takes."""

    name: str
    function: str
    operands: tuple[str, ...]

    @property
    def may_fail(self) -> bool:
        """Whether one configuration may refuse it: a division by what may be 0, or Python code."""
        divides = self.function == "divide" and not (_is_constant(self.operands[1]) and float(self.operands[1]))
        return divides or self.function == "rowwise"


def _is_constant(operand: str) -> bool:
    return not operand[0].isalpha()


class Straight:
    """Expressions taken apart into steps."""

    def __init__(self) -> None:
        self._steps: dict[tuple[str, tuple[str, ...]], Step] = {}

    def add(self, expression: ast.expr) -> str:
        """Return the name of the expression's value, or its text where it is a name or a constant already."""
        if isinstance(expression, ast.BinOp):
            return self._step(_OPERATIONS[type(expression.op)], expression.left, expression.right)
        if isinstance(expression, ast.UnaryOp):
            return self._step(_OPERATIONS[type(expression.op)], expression.operand)
        if isinstance(expression, ast.Compare):
            return self._step(_OPERATIONS[type(expression.ops[0])], expression.left, expression.comparators[0])
        if isinstance(expression, ast.Call):
            return self._step(ast.unparse(expression.func), *expression.args)
        return ast.unparse(expression)

    def _step(self, function: str, *arguments: ast.expr) -> str:
        operands = tuple(self.add(argument) for argument in arguments)
        step = Step(f"v{len(self._steps)}", function, operands)
        return self._steps.setdefault((function, operands), step).name

    def function(self, inputs: int, outputs: Sequence[str]) -> tuple[str, int]:
        """Return the source of ``kernel``, and how many scratch chunks it takes after columns and output columns.

        Then comes a chunk of totals, which stays finite only while all columns and all answers are.
        """
        body = _Body([f"a{i}" for i in range(inputs)], outputs)
        lines = list(body.lines(self._needed(outputs)))
        names = [*body.inputs, *(f"o{i}" for i in range(len(outputs)))]
        names += [*(f"s{i}" for i in range(body.scratch)), "total"]
        return "\n    ".join([f"def kernel({', '.join(names)}):", *lines, "return"]) + "\n", body.scratch

    def _needed(self, outputs: Sequence[str]) -> list[Step]:
        """The steps without those of a branch that folding has decided against, unless they could be refused."""
        needed = set(outputs)
        steps: list[Step] = []
        for step in reversed(self._steps.values()):
            if step.name in needed or step.may_fail:
                needed.update(step.operands)
                steps.append(step)
        return steps[::-1]


class _Body:
    """Finds a place for every value."""

    def __init__(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        self.inputs, self.outputs = inputs, outputs
        self.places: dict[str, str] = {}
        self.free: list[str] = []
        self.scratch = 0

    def lines(self, steps: Sequence[Step]) -> Iterator[str]:
        last = {operand: i for i, step in enumerate(steps) for operand in step.operands}
        asked = {output: f"o{i}" for i, output in reversed(list(enumerate(self.outputs)))}
        for i, step in enumerate(steps):
            operands = ", ".join(self.places.get(operand, operand) for operand in step.operands)
            done = [operand for operand in dict.fromkeys(step.operands) if last[operand] == i]
            self.free += [place for operand in done if (place := self.places.get(operand, "")).startswith("s")]
            if step.function in _IN_PLACE:
                place = self.places[step.name] = asked.get(step.name) or self._scratch()
                yield f"{step.function}({operands}, out={place})"
            else:
                place = self.places[step.name] = asked.get(step.name, step.name)
                yield f"{place}{'[...]' if step.name in asked else ''} = {step.function}({operands})"
            dead = [operand for operand in done if self.places.get(operand) == operand]
            if dead:
                yield f"del {', '.join(dead)}"
        for i, output in enumerate(self.outputs):
            if self.places.get(output) != f"o{i}":
                yield f"o{i}[...] = {self.places.get(output, output)}"
        telling = _telling(steps, [*asked, *(column for column in self.inputs if column not in asked)])
        yield from (f"add(total, {asked.get(value, value)}, out=total)" for value in telling)

    def _scratch(self) -> str:
        if self.free:
            return self.free.pop()
        self.scratch += 1
        return f"s{self.scratch - 1}"


def _telling(steps: Sequence[Step], values: Sequence[str]) -> list[str]:
    """The values that tell whether all are finite: the others hand on what is not to one of these."""
    told: set[str] = set()
    for step in reversed(steps):
        if step.name in told or step.name in values:
            told.update(step.operands if step.function in _HANDED_ON else ())
            told.update(step.operands[:1] if step.function == "divide" else ())
    return [value for value in values if value not in told]
