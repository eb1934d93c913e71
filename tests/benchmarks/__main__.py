"""Prints what alignsim costs beside the same work without it: ``cd tests && python -m benchmarks``.

Figures are CPU time, warm, medians of 20 interleaved rounds. Ratios are what counts; a loop of plain Python stands
beside them, so that absolute figures of different machines can be compared.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import attrs
import numpy as np

from alignsim import Plan, Question, Result, Scenarios, default_registry, quantity
from alignsim.compose import compose
from alignsim.kernel import CHUNK, Kernel
from alignsim.schedule import Schedule
from alignsim.testing import Workbench
from alignsim.units import base_unit
from benchmarks import by_hand
from benchmarks.measure import Times, calibration, interleaved, processes

ROWS = 1_000_000
SAMPLE = 1_000
CASE = "Llama2_70B_PpoAlignment"
_BARE, _LOOP = ["-c", ""], "calibration loop"


@attrs.frozen
class Line:
    """One line of the table; ``target`` is the most that ``ratio`` should be, or the least where it is negative."""

    what: str
    ratio: float
    of: str
    seconds: float
    target: float | None = None

    def __str__(self) -> str:
        text = f"{self.what:<47} {_time(self.seconds):>8} {self.ratio:>10.3g} x {self.of:<33}"
        if self.target is None:
            return text.rstrip()
        least, bound = self.target < 0, abs(self.target)
        good = self.ratio >= bound if least else self.ratio <= bound
        return f"{text} {'>=' if least else '<='} {bound:<4g} {'ok' if good else 'MISSED'}"


def _time(seconds: float) -> str:
    unit, scale = next((u, s) for u, s in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 0)) if seconds >= s)
    return f"{seconds / (scale or 1e-9):.3g} {unit}"


def imports() -> Iterable[Line]:
    """Imports, above a bare interpreter."""
    pair, ours, scenarios = "import attrs, pluggy", "import alignsim", "from alignsim import Scenarios"
    times = processes({"bare": _BARE} | {code: ["-c", code] for code in (pair, ours, scenarios)})
    bare = times.seconds("bare")
    above = {code: times.seconds(code) - bare for code in (pair, ours, scenarios)}
    yield Line(pair, 1, pair, above[pair])
    yield Line(ours, above[ours] / above[pair], pair, above[ours], 3)
    yield Line(scenarios, above[scenarios] / above[pair], pair, above[scenarios])


def one_configuration() -> Iterable[Line]:
    """The fourteen outputs, composed once."""
    case: Any = getattr(Scenarios, CASE)
    plan, values = case.plan, case.plan.values()
    units = [base_unit(plan.graph.nodes[path].unit) for path in plan.inputs]
    quantities = [quantity(value, unit) for value, unit in zip(values, units, strict=True)]
    solver = case.registry.solvers[case.solver]
    hand, pint = "one function of Python", "the formulas on pint quantities"
    calls: dict[str, Callable[[], Any]] = {
        hand: lambda: by_hand.scalar(values),
        "plan.run(values)": lambda: plan.run(values),
        "plan.evaluate()": lambda: plan.evaluate(),
        ".result, solved afresh": lambda: solver.solve(case),
        pint: lambda: by_hand.scalar(quantities),
        _LOOP: calibration,
    }
    times = interleaved(calls)
    yield _line(times, _LOOP, _LOOP)
    yield _line(times, hand, _LOOP)
    yield _line(times, "plan.run(values)", hand, 8)
    yield _line(times, "plan.evaluate()", hand)
    yield _line(times, ".result, solved afresh", hand)
    yield _line(times, pint, "plan.run(values)", -50)


def many_configurations() -> Iterable[Line | str]:
    """A million configurations, all fourteen outputs; five, or two, of the 24 inputs vary."""
    case: Any = getattr(Scenarios, CASE)
    plan = case.plan
    values = dict(zip(plan.inputs, plan.values(), strict=True))
    ways: tuple[tuple[str, Sequence[str], Callable[..., Any]], ...] = (
        ("five", by_hand.FIVE, by_hand.five),
        ("two", by_hand.TWO, by_hand.two),
    )
    for number, names, tuned in ways:
        columns = by_hand.columns_of(names, ROWS)
        yield _compared(plan, case.sweep(columns), columns)
        kernel = Kernel(plan, tuple(names), {path: value for path, value in values.items() if path not in names})
        fast, plain = f"fast NumPy, {number}", f"plain NumPy, {number}"
        sweep, run = f"scenario.sweep, {number}", f"Kernel.run, {number}"
        into, run_into, room = f"{fast}, into old memory", f"{run}, into old memory", by_hand.new_outputs(ROWS)
        calls: dict[str, Callable[[], Any]] = {
            fast: partial(tuned, values, columns, CHUNK),
            plain: partial(by_hand.plain, values, columns, CHUNK),
            run: partial(kernel.run, list(columns.values())),
            sweep: partial(case.sweep, columns),
            into: partial(tuned, values, columns, CHUNK, room),
            run_into: partial(kernel.run, list(columns.values()), out=room),
            _LOOP: calibration,
        }
        times = interleaved(calls)
        yield _line(times, fast, _LOOP)
        yield _line(times, plain, fast)
        yield _line(times, run, fast, 1.2)
        yield _line(times, sweep, fast)  # looks at every column first: whole rows, finite, not below what can be
        yield _line(times, into, fast)
        yield _line(times, run_into, into, 1.2)


def _compared(plan: Any, swept: Any, columns: Mapping[str, by_hand.Column]) -> str:
    """Compare a sample of rows with one configuration at a time, bit for bit."""
    for row in np.random.default_rng(11).choice(ROWS, SAMPLE, replace=False).tolist():
        expected = plan.evaluate(changes={name: float(column[row]) for name, column in columns.items()})
        for path, value in expected.items():
            if float(swept[path][row]).hex() != float(value).hex():
                raise AssertionError(f"row {row}: {path} is {swept[path][row]} in the sweep, {value} by itself")
    return f"{SAMPLE:,} of {ROWS:,} rows, picked at random, are bit for bit those of one configuration at a time"


def composing() -> Iterable[Line]:
    """From parts to a checked graph and a plan."""
    case: Any = getattr(Scenarios, CASE)
    run: Question = case.as_run()
    times = interleaved({f"compose {q.name}": _composed(q) for q in (case, run)} | {_LOOP: calibration})
    for question in (case, run):
        events = len(Schedule.of(question.parts().algorithm).events)
        terms = sum(node.kind == "term" for node in question.graph.nodes.values())
        name = f"compose {question.name}"
        line = _line(times, name, _LOOP)
        yield attrs.evolve(line, what=f"compose: {len(question.graph.nodes)} nodes, {terms} terms, {events} events")
    start = f"from alignsim import Scenarios; Scenarios.{CASE}"
    fresh = processes({"bare": _BARE, "plan": ["-c", f"{start}.plan.run"], "result": ["-c", f"{start}.result"]})
    loop, bare = times.seconds(_LOOP), fresh.seconds("bare")
    for name, what in (("plan", "compose"), ("result", ".result")):
        seconds = fresh.seconds(name) - bare
        yield Line(f"{what}, first in a fresh process, above bare", seconds / loop, _LOOP, seconds)


def _composed(question: Question) -> Callable[[], Any]:
    return lambda: compose(question.parts())


def largest_run() -> Iterable[Line | str]:
    """The largest run that can be made of what is installed: composed, compiled, and evaluated once."""
    run = max(Workbench(default_registry()).runs(), key=lambda run: len(run.graph.nodes))
    graph, plan = run.graph, Plan.of(run.graph, run.graph.order)
    calls: dict[str, Callable[[], Any]] = {
        "compose": _composed(run),
        "compile": lambda: Plan.of(graph, graph.order).run,
        "plan.evaluate(), all values": lambda: plan.evaluate(),
        "peak, phases, binding instant, range": lambda: Result(run, graph, run.resource).to_dict(),
        _LOOP: calibration,
    }
    events, terms = len(graph.parts.schedule.events), sum(node.kind == "term" for node in graph.nodes.values())
    chosen = ", ".join(f"{place}: {filling.name}" for place, filling in sorted(run.components.items()))
    yield f"{run.algorithm.name}: {len(graph.nodes)} nodes, {terms} terms, {events} events; {chosen}"
    times = interleaved(calls)
    for name in calls:
        yield _line(times, name, _LOOP)


def command_line() -> Iterable[Line]:
    """How long people wait for ``alignsim --help``."""
    times = processes({"bare": _BARE, "help": ["-m", "alignsim.cli", "--help"]})
    yield Line("alignsim --help", times.ratio("help", "bare"), "a bare interpreter", times.seconds("help"))


def _line(times: Times, name: str, base: str, target: float | None = None) -> Line:
    return Line(name, times.ratio(name, base), base, times.seconds(name), target)


def main() -> None:
    """Print the table, or the parts of it that are named: ``python -m benchmarks many_configurations``."""
    every: tuple[Callable[[], Iterable[Line | str]], ...] = (
        imports,
        one_configuration,
        many_configurations,
        composing,
        largest_run,
        command_line,
    )
    parts = {part.__name__: part for part in every}
    chosen = sys.argv[1:] or list(parts)
    print(f"Python {platform.python_version()}, NumPy {np.__version__}; CPU time, medians of interleaved rounds")  # noqa: T201
    for name in chosen:
        print(f"\n{parts[name].__doc__}")  # noqa: T201
        for line in parts[name]():
            print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
