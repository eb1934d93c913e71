"""A plan specialised for what varies: the formulas inlined into straight-line NumPy code.

What does not vary is computed once, as plain numbers; exact identities are dropped; the rest runs in chunks that
fit a cache. The answers are those of one configuration at a time, bit for bit: the same operations on the same
numbers in the same order.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from alignsim import maths
from alignsim.errors import InvalidInput, Problem
from alignsim.fold import fold, numeric
from alignsim.graph import Node
from alignsim.plan import Plan

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
        return Plan(self.plan.graph, fixed).evaluate(changes=self.constants) if fixed else {}

    @cached_property
    def code(self) -> tuple[Callable[..., None], str]:
        """The generated function and its source. It takes columns, then output columns, of one chunk."""
        graph, moving = self.plan.graph, self._moving
        names: dict[str, ast.expr] = {p: ast.Name(f"a{i}", ast.Load()) for i, p in enumerate(self.varying)}
        names |= {p: ast.Constant(v) for p, v in self._fixed.items()}
        namespace: dict[str, Any] = _functions()
        body: list[tuple[str, ast.expr]] = []
        known: dict[str, ast.expr] = {}
        for i, path in enumerate(p for p in self.plan.order if p in moving and p not in self.varying):
            node = graph.nodes[path]
            expression = numeric(fold(_expression(node, [names[s] for s in node.inputs], namespace)))
            text = ast.unparse(expression)
            if isinstance(expression, ast.Name | ast.Constant):
                names[path] = expression
            elif text in known:
                names[path] = known[text]
            else:
                names[path] = known[text] = ast.Name(f"v{i}", ast.Load())
                body.append((f"v{i}", expression))
        outputs = [names[path] for path in self.plan.outputs]
        lines = [
            f"def kernel({', '.join([f'a{i}' for i in range(len(self.varying))] + [f'o{i}' for i in range(len(outputs))])}):"
        ]
        lines += ["    " + line for line in _released(body, outputs)]
        source = "\n".join(lines) + "\n"
        exec(compile(source, "<alignsim sweep>", "exec"), namespace)
        return namespace["kernel"], source

    def run(self, columns: Sequence[Column], *, chunk: int = CHUNK) -> dict[str, Column]:
        """Return the outputs for columns of the varying givens.

        Raises:
            InvalidInput: some row does not give a finite number; the first such row is named.
        """
        import numpy as np

        rows = len(columns[0])
        outputs = [np.empty(rows) for _ in self.plan.outputs]
        kernel = self.code[0]
        with np.errstate(all="ignore"):
            for start in range(0, rows, chunk):
                part = slice(start, min(start + chunk, rows))
                kernel(*(column[part] for column in columns), *(output[part] for output in outputs))
        for path, output in zip(self.plan.outputs, outputs, strict=True):
            finite = np.isfinite(output)
            if not finite.all():
                row = int(np.argmin(finite))
                inputs = {p: float(c[row]) for p, c in zip(self.varying, columns, strict=True)}
                raise InvalidInput(Problem(path, f"row {row} gives {output[row]} for {inputs}"))
        return dict(zip(self.plan.outputs, outputs, strict=True))


def _functions() -> dict[str, Any]:
    import numpy as np

    def safe_divide(a: Any, b: Any) -> Any:
        return maths.safe_divide(np.asarray(a), np.asarray(b))

    return {
        "where": np.where,
        "minimum": np.minimum,
        "maximum": np.maximum,
        "ceil": np.ceil,
        "floor": np.floor,
        "safe_divide": safe_divide,
        "rowwise": _rowwise,
        "nan": float("nan"),
    }


def _rowwise(function: Callable[..., float], *arguments: Any) -> Column:
    """Call an opaque formula row by row, on Python floats as one configuration does."""
    import numpy as np

    columns = np.broadcast_arrays(*arguments)
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


def _released(body: Sequence[tuple[str, ast.expr]], outputs: Sequence[ast.expr]) -> Iterator[str]:
    """Yield one line a value; every array is let go after its last use."""
    last: dict[str, int] = {}
    for i, (_, expression) in enumerate(body):
        for used in ast.walk(expression):
            if isinstance(used, ast.Name):
                last[used.id] = i
    written: dict[str, list[int]] = {}
    for i, output in enumerate(outputs):
        written.setdefault(output.id if isinstance(output, ast.Name) else "", []).append(i)
    for name in [n for n in written if not n.startswith("v")]:
        yield from (f"o{i}[...] = {ast.unparse(outputs[i])}" for i in written[name])
    for i, (name, expression) in enumerate(body):
        yield f"{name} = {ast.unparse(expression)}"
        yield from (f"o{k}[...] = {name}" for k in written.get(name, ()))
        done = [used for used, at in last.items() if at == i and used.startswith("v")]
        done += [name] if name not in last else []
        if done:
            yield f"del {', '.join(done)}"
    yield "return"
