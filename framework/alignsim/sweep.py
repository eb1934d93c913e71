"""Many configurations at once, row by row, with the answers that one at a time would give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from alignsim.errors import InvalidInput, Problem, UnknownName
from alignsim.given import EXACT
from alignsim.graph import Node
from alignsim.kernel import Column, Kernel, check_finite
from alignsim.plan import Plan
from alignsim.reached import instants


@attrs.frozen(eq=False, repr=False)
class Sweep:
    """The answers of many configurations, row by row.

    Attributes:
        plan: what was computed.
        columns: the inputs that vary, by path.
        answers: the outputs by path, in base units.
    """

    plan: Plan
    columns: Mapping[str, Column]
    answers: Mapping[str, Column]

    def __repr__(self) -> str:
        return f"Sweep({len(self):,} rows of {', '.join(self.columns)}: {', '.join(self.answers)})"

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, path: str) -> Column:
        """Return one output in base units.

        Raises:
            UnknownName: it was not computed.
        """
        resolved = self.plan.graph.resolve(path)
        if resolved not in self.answers:
            raise UnknownName("output of this sweep", path, self.answers)
        return self.answers[resolved]

    @property
    def peak(self) -> Column:
        """The first output, in base units."""
        return self.answers[self.plan.outputs[0]]

    def binding(self, path: str | None = None) -> list[str]:
        """Return, row by row, the instant that sets a total (the first output's if none is named)."""
        import numpy as np

        graph = self.plan.graph
        leaves = list(dict.fromkeys(_leaves(graph.nodes, graph.resolve(path or self.plan.outputs[0]))))
        values = sweep(Plan(graph, tuple(leaves)), self.columns)
        spelt = [graph.nodes[leaf].inputs[0] if graph.nodes[leaf].kind == "masked" else leaf for leaf in leaves]
        largest = np.argmax(np.stack([values[leaf] for leaf in leaves]), axis=0)
        found = [spelt[i] for i in largest.tolist()]
        for leaf in dict.fromkeys(found):
            reached = self._reached(leaf)
            found = [reached[row] if reached and name == leaf else name for row, name in enumerate(found)]
        return found

    def _reached(self, path: str) -> list[str]:
        """Return, row by row, the instant at which the total at ``path`` was reached, if its name does not say."""
        import numpy as np

        graph = self.plan.graph
        pairs = list(instants(graph, path))
        if not pairs:
            return []
        asked = [path, *(spelling for pair in pairs for spelling in pair if spelling)]
        values = sweep(Plan(graph, tuple(dict.fromkeys(map(graph.resolve, asked)))), self.columns)
        taken = [
            np.where(values[total] == values[path], values[below] if below else 0.0, -1.0) for total, below in pairs
        ]
        return [pairs[i][0] for i in np.argmax(np.stack(taken), axis=0).tolist()]


def _leaves(nodes: Mapping[str, Node], path: str) -> Iterator[str]:
    if nodes[path].kind == "max":
        for source in nodes[path].inputs:
            yield from _leaves(nodes, source)
    else:
        yield path


def sweep(plan: Plan, columns: Mapping[str, Any]) -> Sweep:
    """Evaluate a plan for many values of some inputs; see :meth:`alignsim.scenario.Question.sweep`.

    Raises:
        UnknownName: no such input.
        InvalidInput: rows that differ in length, are no numbers, or do not give finite answers.
    """
    import numpy as np

    if not columns:
        raise InvalidInput("nothing varies; name at least one input, such as tensor=[1, 2, 4, 8]")
    found: dict[str, Column] = {}
    spelt: dict[str, str] = {}
    for name, values in columns.items():
        path = plan.graph.input_path(name)
        if path in found:
            raise InvalidInput(Problem(name, f"is {path}, which another column sets already"))
        found[path] = as_column(name, [values] if isinstance(values, int | float) else values)
        spelt[path] = name
    rows = max(len(column) for column in found.values())
    uneven = {name: len(column) for name, column in found.items() if len(column) not in (1, rows)}
    if uneven:
        raise InvalidInput(f"columns differ in length: {uneven} beside {rows}; use alignsim.grid for all combinations")
    full = {path: np.ascontiguousarray(np.broadcast_to(column, rows)) for path, column in found.items()}
    _hold(plan, full, spelt)
    used = {path: column for path, column in full.items() if path in plan.inputs}
    for path in full.keys() - used.keys():
        check_finite(path, full[path])
    if not used:
        answers = plan.evaluate()
        return Sweep(plan, full, {path: np.full(rows, value) for path, value in answers.items()})
    varying = tuple(used)
    if varying not in plan.kernels:
        constants = {p: v for p, v in zip(plan.inputs, plan.values(), strict=True) if p not in used}
        plan.kernels[varying] = Kernel(plan, varying, constants)
    return Sweep(plan, full, plan.kernels[varying].run(list(used.values())))


def grid(**axes: Any) -> dict[str, Column]:
    """Return columns that hold all combinations of the axes' values, the last axis fastest.

    >>> grid(tensor=[1, 2], pipeline=[1, 4])["pipeline"].tolist()
    [1.0, 4.0, 1.0, 4.0]
    """
    import numpy as np

    columns = [as_column(name, [v] if isinstance(v, int | float) else v) for name, v in axes.items()]
    return {name: mesh.ravel() for name, mesh in zip(axes, np.meshgrid(*columns, indexing="ij"), strict=True)}


def _hold(plan: Plan, columns: Mapping[str, Column], spelt: Mapping[str, str]) -> None:
    """Hold every row to the limits that what varies takes part in, its own and those of other numbers.

    Raises:
        InvalidInput: rows beyond a limit: the first of them is told, for every rule that is broken.
    """
    import numpy as np

    graph = plan.graph
    concerned = dict.fromkeys(pair for path in columns for pair in graph.limits.get(path, ()))
    constant = {path: number.value for path, number in graph.givens.items()} if concerned else {}
    problems: dict[tuple[str, str], Problem] = {}
    for path, limit in concerned:
        others = {name: columns.get(name, constant[name]) for name in limit.names}
        value = columns.get(path, constant[path])
        for rule, beyond in limit.rules(value, others):
            if not isinstance(beyond, np.ndarray) or not beyond.any():
                continue  # a rule about what does not vary was kept when the graph was composed
            broken = beyond & np.isfinite(value)  # what is not finite is refused as such
            if broken.any():
                row = int(broken.argmax())
                told = [f"{columns[path][row] if path in columns else value:g}"]
                told += [f"{spelt.get(n, n)} {columns[n][row]:g}" for n in limit.names if n in columns]
                name = spelt.get(path, path)
                message = limit.message(rule, f"{' with '.join(told)} in row {row}")
                problems.setdefault((name, rule), Problem(name, message))
    if problems:
        raise InvalidInput(problems.values())


def as_column(name: str, values: Any) -> Column:
    """Return values as a read-only column of floats: a view of them where they are an array of floats already.

    Raises:
        InvalidInput: not numbers, not one-dimensional, or whole numbers above 2^53.
    """
    import numpy as np

    try:
        column = np.asarray(values)
        if column.dtype.kind not in "iuf":
            raise TypeError
        floats = np.asarray(column, dtype=np.float64).view()
    except (TypeError, ValueError):
        raise InvalidInput(Problem(name, f"cannot be swept over {values!r}; give a list of numbers")) from None
    if floats.ndim != 1 or not floats.size:
        raise InvalidInput(Problem(name, f"must be a non-empty row of numbers, not of shape {floats.shape}"))
    if column.dtype.kind in "iu" and max(int(column.max()), -int(column.min())) > EXACT:
        raise InvalidInput(Problem(name, "has a whole number above 2^53, which would not be exact"))
    floats.flags.writeable = False
    return floats
