"""A plan specialised for what varies: the formulas inlined into straight-line NumPy code.

What does not vary is computed once, as plain numbers; exact identities are dropped; the rest runs in chunks that
fit a cache. The answers are those of one configuration at a time, bit for bit but for the sign of a zero: the same
operations on the same numbers in the same order.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from alignsim import maths
from alignsim.errors import InvalidInput, Problem
from alignsim.fold import fold, numeric
from alignsim.graph import Node
from alignsim.plan import PIECE, Plan
from alignsim.straight import UFUNCS, Straight

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Column: TypeAlias = "npt.NDArray[np.float64]"
CHUNK = 8192


@attrs.frozen(eq=False)
class Kernel:
    """A plan specialised for the givens that vary; the others are constants.

    Attributes:
        plan: what is computed.
        varying: the givens that vary, in the order in which columns are passed.
        constants: the values of the other givens.
    """

    plan: Plan
    varying: tuple[str, ...]
    constants: Mapping[str, float]

    @cached_property
    def _moving(self) -> frozenset[str]:
        """All nodes that depend on what varies."""
        moving = set(self.varying)
        nodes = self.plan.graph.nodes
        for path in self.plan.order:
            if any(source in moving for source in nodes[path].inputs):
                moving.add(path)
        return frozenset(moving)

    @cached_property
    def _fixed(self) -> dict[str, float]:
        """The values of all nodes that do not vary, computed as one configuration is."""
        fixed = tuple(path for path in self.plan.order if path not in self._moving)
        plan = Plan(self.plan.graph, fixed)
        values = [self.constants.get(path, value) for path, value in zip(plan.inputs, plan.values(), strict=True)]
        return dict(zip(fixed, plan.answers(values), strict=True))

    @cached_property
    def code(self) -> tuple[Callable[..., None], str, int]:
        """The generated function, its source, and the number of scratch chunks that it needs.

        It takes one chunk of every column, then of every output that varies, then scratch chunks and a chunk of totals.
        """
        graph, moving = self.plan.graph, self._moving
        names: dict[str, ast.expr] = {p: ast.Name(f"a{i}", ast.Load()) for i, p in enumerate(self.varying)}
        names |= {p: ast.Constant(v) for p, v in self._fixed.items()}
        namespace: dict[str, Any] = _functions()
        steps = Straight()
        for path in (p for p in self.plan.order if p in moving and p not in self.varying):
            node = graph.nodes[path]
            sources = [names[source] for source in node.inputs]
            while len(sources) > PIECE and node.kind in ("sum", "max"):  # in the same order, nested less deeply
                piece = numeric(fold(_expression(node, sources[:PIECE], namespace)))
                sources = [ast.parse(steps.add(piece), mode="eval").body, *sources[PIECE:]]
            expression = numeric(fold(_expression(node, sources, namespace)))
            constant = isinstance(expression, ast.Constant)
            names[path] = expression if constant else ast.Name(steps.add(expression), ast.Load())
        outputs = [ast.unparse(names[path]) for path in dict.fromkeys(self.plan.outputs) if path in moving]
        source, scratch = steps.function(len(self.varying), outputs)
        exec(compile(source, "<alignsim sweep>", "exec"), namespace)
        return namespace["kernel"], source, scratch

    def run(
        self, columns: Sequence[Column], *, chunk: int = CHUNK, out: Sequence[Column] | None = None
    ) -> dict[str, Column]:
        """Return the outputs for columns of the varying givens, in new columns unless some are passed to write into.

        Raises:
            InvalidInput: some row has or gives a number that is not finite; the first such row is named.
        """
        import numpy as np

        rows = len(columns[0])
        outputs = dict(zip(self.plan.outputs, out or [np.empty(rows) for _ in self.plan.outputs], strict=True))
        moving = [output for path, output in outputs.items() if path in self._moving]
        for path in outputs.keys() - self._moving:
            outputs[path].fill(self._fixed[path])
        kernel, _, scratch = self.code
        chunks = [np.zeros(min(chunk, rows)) for _ in range(scratch + 1)]
        doubtful = not all(math.isfinite(self._fixed[path]) for path in outputs.keys() - self._moving)
        with np.errstate(divide="raise", invalid="raise", over="ignore", under="ignore"):
            for start in range(0, rows, chunk):
                part = slice(start, min(start + chunk, rows))
                used = [column[part] for column in (*columns, *moving)]
                try:
                    kernel(*used, *(c[: part.stop - start] for c in chunks))
                except ArithmeticError:  # NumPy would go on where Python refuses, even in a branch that is not taken
                    self._refuse(columns, {})
                    self._row_by_row(range(part.start, part.stop), columns, outputs)
                    doubtful = True
                except ValueError as error:  # an opaque formula fails as it does by itself
                    self._refuse(columns, {})
                    raise InvalidInput(f"{error} (in rows {part.start} to {part.stop - 1})") from error
        if doubtful or not np.isfinite(chunks[-1]).all():  # or all are, and their total is too large
            self._refuse(columns, outputs)
        return outputs

    def _row_by_row(self, rows: range, columns: Sequence[Column], outputs: Mapping[str, Column]) -> None:
        """Compute some rows one at a time, where a formula may divide by zero."""
        cells = dict(zip(self.varying, columns, strict=True))
        start = self.plan.values()
        for row in rows:
            values = [
                float(cells[path][row]) if path in cells else self.constants.get(path, value)
                for path, value in zip(self.plan.inputs, start, strict=True)
            ]
            try:
                answers = self.plan.answers(values)
            except InvalidInput as error:
                found = error.problems
                raise InvalidInput(attrs.evolve(p, message=f"row {row}: {p.message}") for p in found) from error
            for path, answer in zip(self.plan.outputs, answers, strict=True):
                outputs[path][row] = answer

    def _refuse(self, columns: Sequence[Column], outputs: Mapping[str, Column]) -> None:
        for path, column in zip(self.varying, columns, strict=True):
            check_finite(path, column)
        for path, output in outputs.items():
            row = not_finite(output)
            if row is not None:
                inputs = {p: float(c[row]) for p, c in zip(self.varying, columns, strict=True)}
                raise InvalidInput(Problem(path, f"row {row} gives {output[row]} for {inputs}"))


def not_finite(column: Column) -> int | None:
    """Return the first row that is not finite."""
    import numpy as np

    finite = np.isfinite(column)
    return None if finite.all() else int(np.argmin(finite))


def check_finite(path: str, column: Column) -> None:
    """Refuse a column of an input that has a value that is not finite.

    Raises:
        InvalidInput: it has one.
    """
    row = not_finite(column)
    if row is not None:
        raise InvalidInput(Problem(path, f"has a value that is not finite: {column[row]} in row {row}"))


def _functions() -> dict[str, Any]:
    import numpy as np

    def safe_divide(a: Any, b: Any) -> Any:
        return maths.safe_divide(np.asarray(a), np.asarray(b))

    return {
        **{name: getattr(np, name) for name in UFUNCS},
        "where": np.where,
        "safe_divide": safe_divide,
        "rowwise": _rowwise,
        "nan": float("nan"),
    }


def _rowwise(function: Callable[..., float], *arguments: Any) -> Any:
    """Call an opaque formula row by row, on Python floats as one configuration does."""
    import numpy as np

    columns = np.broadcast_arrays(*arguments)
    if not columns[0].ndim:  # what varies was folded away
        return function(*arguments)
    return np.array([function(*row) for row in zip(*(c.tolist() for c in columns), strict=True)], dtype=np.float64)


def _expression(node: Node, inputs: Sequence[ast.expr], namespace: dict[str, Any]) -> ast.expr:
    if node.kind == "term":
        assert node.term is not None
        formula = node.term.formula
        if formula.expression is None:
            name = f"f{len(namespace)}"
            namespace[name] = formula.function
            return _call("rowwise", ast.Name(name, ast.Load()), *inputs)
        return formula.inline(dict(zip(formula.parameters, inputs, strict=True)))
    if node.kind == "masked":
        return _call("where", ast.Compare(inputs[1], [ast.Gt()], [ast.Constant(0.0)]), inputs[0], ast.Constant(0.0))
    if node.kind == "max":
        inputs = list({ast.unparse(member): member for member in inputs}.values())
    total = inputs[0]
    for other in inputs[1:]:
        total = ast.BinOp(total, ast.Add(), other) if node.kind == "sum" else _call("maximum", total, other)
    return total


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
