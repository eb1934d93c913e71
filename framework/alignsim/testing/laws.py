"""Laws that every run keeps, whatever it is made of. Each is a function that raises where a run breaks it.

``assert_lawful(run)`` holds a run to all of them. No law trusts the code that it looks at: totals are added up anew
from the terms and the events at which they say they are live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from math import fsum, isclose
from typing import Any, TypeVar

import attrs

from alignsim.component import Stage
from alignsim.compose import compose
from alignsim.errors import InvalidInput
from alignsim.given import Given
from alignsim.graph import Node, TermGraph
from alignsim.parts import Parts
from alignsim.plan import Plan
from alignsim.scenario import Scenario
from alignsim.scope import parse

V = TypeVar("V")

GROWING = ("micro_batch", "sequence_tokens", "layers")
"""Of these, more never takes less."""

AMOUNTS = ("rows", "tokens")
"""What a packing makes of those: a trade of one for the other is neither more nor less."""

ENDS = ("low", "expected", "high")

RANK = "rank"
"""How a component names the number that its adapters' thin sides have: this, or something that ends in it."""

TRAINED = ("trainable_parameters", "adapter_weights", "gradients", "master_weights", "optimizer_state")
"""States that grow with a rank, by equal steps; what a rank does not change, ``weights``, stays."""


def nothing_is_negative(run: Scenario) -> None:
    """No formula gives less than 0, at any end of the ranges."""
    for end in ENDS:
        values = run.result.at(end)
        below = {p: values[p] for p, node in run.graph.nodes.items() if node.kind != "given" and values[p] < 0}
        assert not below, f"less than 0 at the {end} end: {below}"


def ends_are_in_order(run: Scenario) -> None:
    """Every total of the resource that is asked about is least at the low end and most at the high end.

    A single term need not be: one may give back what another takes. Nor what a fill is part of: it takes what is left.
    """
    low, expected, high = (run.result.at(end) for end in ENDS)
    filled = with_fill(run.graph)
    for path in run.graph.needed([run.resource]):
        node = run.graph.nodes[path]
        if node.kind in ("sum", "max", "masked") and path not in filled:
            told = f"{path} is {low[path]}, {expected[path]}, {high[path]} at its low, expected and high end"
            assert low[path] <= expected[path] <= high[path], told


def every_role_appears(run: Scenario) -> None:
    """Nobody in the algorithm's table is left out of the graph."""
    lost = set(run.algorithm.roles) - {node.scope.role for node in run.graph.nodes.values()}
    assert not lost, f"no value belongs to {', '.join(sorted(lost))}"


def the_peak_is_the_largest_sum(run: Scenario) -> None:
    """The peak, and that of every phase, is the largest over instants of what is live there, added up by hand."""
    if run.registry.resources[run.resource].over_events != "max":
        return
    result = run.result
    wanted = largest_sums(run.graph, run.resource, result.values)
    found = {name: float(total.magnitude) for name, total in result.phases.items()}
    several = len(run.graph.parts.pools) > 1
    by_name = {f"{phase}@{pool}" if several else phase: most for (pool, phase), most in wanted.items()}
    assert set(found) == set(by_name), f"phases with something in them: {sorted(by_name)}; told: {sorted(found)}"
    side_by_side = {phase for group in run.algorithm.concurrent for phase in group}
    for name, most in by_name.items():
        told = f"{name} is {found[name]}, but its instants hold at most {most}"
        apart = name.partition("@")[0] not in side_by_side
        assert isclose(found[name], most, rel_tol=1e-12) or (found[name] > most and not apart), told
    peak = result.value(run.resource)
    assert peak == max(found.values()), f"the peak is {peak}, but phases reach {max(found.values())}"


def what_stays_is_in_the_peak(run: Scenario) -> None:
    """The peak is at least what is live at every instant."""
    graph, values = run.graph, run.result.values
    instants = len(graph.parts.schedule.events)
    for pool in graph.parts.pools:
        held = _holders(graph, run.resource, pool)
        stays = fsum(values[path] for path, (_, live) in held.items() if len(live) == instants and "[" not in path)
        assert run.result.value(run.resource) >= stays * (1 - 1e-12), f"{stays} is always there in {pool}"


def the_binding_instant_adds_up(run: Scenario) -> None:
    """What is told to be live at the binding instant adds up to the peak, largest first, and nothing ranks above."""
    binding, runner_up = run.result.binding, run.result.runner_up
    total = fsum(value for _, value in binding.terms)
    assert isclose(total, binding.value, rel_tol=1e-12), f"{binding.path}: {total} of {binding.value} are told"
    told = [value for _, value in binding.terms]
    assert told == sorted(told, reverse=True), f"{binding.path}: not the largest first"
    assert runner_up is None or runner_up.value <= binding.value, "the runner-up is above the binding instant"


def more_never_takes_less(run: Scenario, names: tuple[str, ...] = GROWING) -> None:
    """A larger micro-batch, longer sequences and more layers take no less, in the peak and in every phase.

    Where more of one makes less of another (longer sequences, fewer of them in a budget), nothing is claimed, nor of
    what a fill is part of.
    """
    filled = with_fill(run.graph)
    totals = _totals(run)
    amounts = tuple(path for path in run.graph.nodes if _short(path) in AMOUNTS)
    plan = Plan.of(run.graph, dict.fromkeys([*totals.outputs, *amounts]))
    before = plan.evaluate()
    inputs = dict(zip(plan.inputs, plan.values(), strict=True))
    for path in (path for path in inputs if _short(path) in names):
        for more in (inputs[path] + 1, 3 * inputs[path]):
            after = plan.evaluate(changes={path: more})
            less = {p: (v, after[p]) for p, v in before.items() if after[p] < v * (1 - 1e-12) and p not in filled}
            traded = any(amount in less for amount in amounts)
            assert not less or traded, f"{path} from {inputs[path]} to {more} makes less of {less}"


def trained_states_scale_with_rank(run: Scenario) -> None:
    """Equal steps of an adapter's rank take equal steps of all that is kept for what it trains, and no base weights.

    What has no thin matrix (a magnitude of every output) is there at any rank; the rest is in proportion.
    """
    for role, fillings in run.graph.parts.components.items():
        ranks = {name for filling in fillings.values() for name in filling.defaults if name.endswith(RANK)}
        held = [f"{role}.{name}" for name in (*TRAINED, "weights") if f"{role}.{name}" in run.graph.nodes]
        plan = Plan.of(run.graph, dict.fromkeys(held))
        inputs = dict(zip(plan.inputs, plan.values(), strict=True))
        for path in (path for path in inputs if _short(path) in ranks and path.startswith(f"{role}.")):
            once, twice, thrice = (plan.evaluate(changes={path: inputs[path] * times}) for times in (1, 2, 3))
            for state in held:
                steps = twice[state] - once[state], thrice[state] - twice[state]
                told = f"{state} is {once[state]}, {twice[state]}, {thrice[state]} at once, twice, thrice {path}"
                assert isclose(*steps, rel_tol=1e-9, abs_tol=1e-12 * abs(thrice[state])), told
                assert steps[0] >= 0, told
                assert steps[0] == 0 or not state.endswith(".weights"), told
                assert steps[0] > 0 or not state.endswith(".trainable_parameters"), told


def a_sweep_is_the_same_bit_for_bit(run: Scenario, names: tuple[str, ...] = GROWING) -> None:
    """Many configurations at once are the configurations one at a time."""
    plan = _totals(run)
    inputs = dict(zip(plan.inputs, plan.values(), strict=True))
    varied = [path for path in inputs if _short(path) in names]
    if not varied:
        return
    columns = {path: [inputs[path] + step * (1 + i % 2) for step in range(4)] for i, path in enumerate(varied)}
    swept = run.sweep(columns, outputs=plan.outputs)
    for row in range(4):
        one = plan.evaluate(changes={path: column[row] for path, column in columns.items()})
        unlike = {p: (float(swept[p][row]), v) for p, v in one.items() if float(swept[p][row]).hex() != v.hex()}
        assert not unlike, f"row {row} of {columns}: swept, alone: {unlike}"


def the_order_of_parts_changes_nothing(run: Scenario) -> None:
    """Plugins, terms, components and slots may come in any order."""
    parts = run.parts()
    components = {role: _turned(fillings) for role, fillings in _turned(parts.components).items()}
    turned = attrs.evolve(
        parts,
        terms=parts.terms[::-1],
        components=components,
        slots=_turned(parts.slots),
        models=_turned(parts.models),
        resources=_turned(parts.resources),
        facts=_turned(parts.facts),
    )
    other = compose(turned)
    assert other.order == run.graph.order, "other values, or in another order"
    unlike = [path for path, node in run.graph.nodes.items() if other.nodes[path] != node]
    assert not unlike, f"made otherwise: {', '.join(unlike)}"
    assert other.aliases == run.graph.aliases, "other spellings"


def what_is_out_of_bounds_is_refused(run: Scenario) -> None:
    """No input beyond its limits gives a number: not in one configuration, which tells all of them, nor in a sweep."""
    outside = {path: value for path, number in run.graph.givens.items() for value in _outside(number)}
    if not outside:
        return
    told = _refusal(lambda: compose(_changed(run, outside)))
    for path, value in outside.items():
        line = next((line for line in told.splitlines() if f"{path}: must be" in line), "")
        assert f"got {value:g}" in line, f"{path} = {value:g} is not refused"
    for path, value in outside.items():
        swept = _refusal(lambda path=path, value=value: run.sweep({path: [value]}))  # type: ignore[misc]
        assert f"{path}: must be" in swept, f"a sweep of {path} = {value:g} is not refused"
        assert f"got {value:g}" in swept, f"a sweep of {path} = {value:g} does not tell the value"


def _outside(number: Given) -> Iterator[float]:
    """A number that the limits of an input do not allow."""
    least = [limit.least for limit in number.limits if isinstance(limit.least, int | float)]
    most = [limit.most for limit in number.limits if isinstance(limit.most, int | float)]
    yield from [min(least) - 1.0] if least else [max(most) + 1.0] if most else []


def _changed(run: Scenario, values: Mapping[str, float]) -> Parts:
    parts = run.parts()
    units = {path: number.unit for path, number in run.graph.givens.items()}
    return attrs.evolve(parts, givens={**parts.givens, **{p: Given(v, units[p]) for p, v in values.items()}})


def _refusal(ask: Callable[[], Any]) -> str:
    try:
        ask()
    except InvalidInput as error:
        return str(error)
    return ""


LAWS: tuple[Callable[[Scenario], None], ...] = (
    nothing_is_negative,
    ends_are_in_order,
    every_role_appears,
    the_peak_is_the_largest_sum,
    what_stays_is_in_the_peak,
    the_binding_instant_adds_up,
    more_never_takes_less,
    trained_states_scale_with_rank,
    a_sweep_is_the_same_bit_for_bit,
    the_order_of_parts_changes_nothing,
    what_is_out_of_bounds_is_refused,
)
"""All laws."""


def assert_lawful(run: Scenario) -> None:
    """Hold a run to all laws; what is broken is told with the law's name.

    Raises:
        AlignSimError: the run does not compose.
    """
    for law in LAWS:
        try:
            law(run)
        except AssertionError as error:
            raise AssertionError(f"{law.__name__.replace('_', ' ')}: {error}") from error


def largest_sums(graph: TermGraph, resource: str, values: Mapping[str, float]) -> dict[tuple[str, str], float]:
    """Return the largest sum by pool and phase, over every instant and kind of rank, each added up by itself.

    For phases side by side it is the largest over all their instants together, each thing counted once: what the
    totals must at least have, since they know nothing of who waits for whom.
    """
    parts = graph.parts
    found: dict[tuple[str, str], float] = {}
    for pool in parts.pools:
        holders = _holders(graph, resource, pool)
        for kind in (k for k in parts.stages(pool) or (None,) if k is None or _present(graph, k, pool, values)):
            absent = _not_held(graph, kind, holders, values) if kind else set()
            for live, phases in _instants(graph, holders, kind):
                total = fsum(values[path] for path in live - absent)
                if live:
                    for phase in phases:
                        found[pool, phase] = max(found.get((pool, phase), 0.0), total)
    return found


def _holders(graph: TermGraph, resource: str, pool: str) -> dict[str, tuple[str | None, frozenset[int]]]:
    """What takes up a resource in a pool: its kind of rank and the instants at which it is live."""
    found = {}
    for path, node in graph.nodes.items():
        if node.term is not None and node.term.resource == resource and _pool(graph, node) in (None, pool):
            _, owner, phase, stage = parse(path)
            role = owner if owner in graph.parts.algorithm.roles else None
            found[path] = stage, node.term.live.picks(graph.parts.schedule, phase, role)
    return found


def _pool(graph: TermGraph, node: Node) -> str | None:
    owner = parse(node.path)[1]
    places = {role: graph.parts.place(role) for role in graph.parts.algorithm.roles}
    if owner in places:
        return places[owner].pool
    if owner.startswith("@"):
        return owner[1:]
    return next((place.pool for place in places.values() if owner == f"%{place.process}"), None)


def _present(graph: TermGraph, kind: Stage, pool: str, values: Mapping[str, float]) -> bool:
    roles = [role for role in graph.parts.algorithm.roles if graph.parts.place(role).pool == pool]
    scopes = [graph.parts.scope(role=role, stage=kind.name) for role in roles]
    paths = [next((p for p in scope.lookups(kind.present or "") if p in values), None) for scope in scopes]
    return kind.present is None or any(values[path] > 0 for path in paths if path is not None)


def _not_held(graph: TermGraph, kind: Stage, holders: Iterable[str], values: Mapping[str, float]) -> set[str]:
    """Return what a kind of rank does not hold, since the number that its slot is held by is 0 there."""
    found = set()
    for path in holders:
        node = graph.nodes[path]
        role = node.scope.role
        slot = graph.parts.slot_of(node.term, role) if node.term is not None and role is not None else None
        if slot is not None and slot in kind.holds and node.scope.stage is None:
            scope = graph.parts.scope(role=role, stage=kind.name)
            numbers = [values[p] for p in scope.lookups(kind.holds[slot]) if p in values]
            if numbers and numbers[0] <= 0:
                found.add(path)
    return found


def _instants(
    graph: TermGraph, holders: Mapping[str, tuple[str | None, frozenset[int]]], kind: Stage | None
) -> Iterator[tuple[set[str], tuple[str, ...]]]:
    """Yield what is live at every instant, or at instants of phases side by side, and the phases it counts for."""
    events = graph.parts.schedule.events
    mine = {path: live for path, (stage, live) in holders.items() if kind is None or stage in (None, kind.name)}
    at = [{path for path, live in mine.items() if i in live} for i in range(len(events))]
    for event, live in zip(events, at, strict=True):
        yield live, ("init" if event.lap == "init" else event.phase,)
    for group, lap in product(graph.parts.algorithm.concurrent, ("first", "steady")):
        lanes = [[at[i] for i, e in enumerate(events) if e.lap == lap and e.phase == phase] for phase in group]
        for together in product(*lanes):
            yield set().union(*together), group


def _totals(run: Scenario) -> Plan:
    """The plan of the peak and of the peaks of all phases."""
    graph = run.graph
    tops = [p for phase in ("init", *run.algorithm.phases) if (p := f"{phase}:{run.resource}") in graph.aliases]
    tops += [path for path, node in graph.nodes.items() if node.kind == "max"]
    return Plan.of(graph, dict.fromkeys([run.resource, *map(graph.resolve, tops)]))


def with_fill(graph: TermGraph) -> set[str]:
    """Return the paths of fills, and of all that depends on one: a fill takes what is left, and so gives way."""
    found: set[str] = set()
    for path in graph.order:
        node = graph.nodes[path]
        if found.intersection(node.inputs) or (node.term is not None and node.term.fill):
            found.add(path)
    return found


def _short(path: str) -> str:
    return path.rpartition(".")[2]


def _turned(mapping: Mapping[str, V]) -> dict[str, V]:
    return dict(reversed(list(mapping.items())))
