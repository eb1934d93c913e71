"""What processes keep between instants, and what rests on it: against a run that is lived through event by event."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as forall
from hypothesis import reject, settings
from hypothesis import strategies as st

from alignsim import Algorithm, Component, Place, Resource, Slot, after, always, at, resident, span, term, while_
from alignsim.compose import compose
from alignsim.errors import CompositionError
from alignsim.given import given
from alignsim.graph import TermGraph
from alignsim.keeping import Keeping
from alignsim.parts import Parts
from alignsim.plan import Plan
from alignsim.result import Result
from alignsim.schedule import Schedule
from alignsim.sweep import sweep
from small_graphs import TRAIN, formula, values_of

TENSORS = Resource(name="tensors", unit="byte")
HELD = Resource(
    name="held",
    unit="byte",
    includes="tensors",
    kept=True,
    overhead=term("byte", per={"process"})(formula("holes", "kept, share", "kept * share")),
)
USED = Resource(name="used", unit="byte", includes="held", capacity=("room",))
RESOURCES = {resource.name: resource for resource in (USED, TENSORS, HELD)}
ENGINE = Slot(name="engine")
GIVES_BACK = Component(name="gives-back", slot=ENGINE, releases=at("backward_end"))
ACTIVITIES = (TRAIN, "infer", "generate", "idle", "asleep", "offloaded")

liveness = st.sampled_from(
    [
        always,
        resident,
        at("forward"),
        at("backward_end", "decode"),
        after("optimizer_step"),
        span("forward", "backward_end"),
        while_("generate"),
        while_("load") | at("optimizer_step"),
    ]
)


@st.composite
def cases(draw: Any) -> Any:
    roles = ["policy", "critic", "engine"][: draw(st.integers(1, 3))]
    phases = {f"p{i}": {r: draw(st.sampled_from(ACTIVITIES)) for r in roles} for i in range(draw(st.integers(1, 3)))}
    holders = [
        (f"t{i}", draw(liveness), draw(st.sampled_from(sorted(RESOURCES)))) for i in range(draw(st.integers(1, 5)))
    ]
    processes = {role: draw(st.sampled_from(["one", "two"])) for role in roles}
    giving = draw(st.sets(st.sampled_from(roles)))
    return Algorithm(name="random", phases=phases), holders, processes, giving, draw(st.randoms(use_true_random=False))


def lived_through(graph: TermGraph, values: dict[tuple[str, str], int], holders: Any, share: float) -> dict[str, float]:
    """Walk through loading, a first lap and two steady ones; return all that is used at each event of the last."""
    parts = graph.parts
    schedule = parts.schedule
    processes = list(dict.fromkeys(parts.place(role).process for role in parts.algorithm.roles))
    releases = {process: Keeping(parts, process).releases for process in processes}
    steady = [i for i, event in enumerate(schedule.events) if event.lap == "steady"]
    cached = dict.fromkeys(processes, 0.0)
    used: dict[str, float] = {}
    for i in [*range(len(schedule.events)), *steady]:
        beside = 0.0
        for process in processes:
            live = {"tensors": 0.0, "held": 0.0, "used": 0.0}
            for name, rule, resource in holders:
                for role in parts.algorithm.roles:
                    if parts.place(role).process == process and i in rule.picks(schedule, None, role):
                        live[resource] += values[role, name]
            taken = live["tensors"]
            cached[process] = taken if i in releases[process] else max(cached[process], taken)
            beside += cached[process] * (1 + share) + live["held"] + live["used"]
        used[str(schedule.events[i])] = beside
    return {str(schedule.events[i]): used[str(schedule.events[i])] for i in steady}


@settings(max_examples=300, deadline=None)
@forall(cases())
def test_the_totals_are_those_of_a_run_that_is_lived_through(case):
    algorithm, holders, processes, giving, random = case
    terms, values, givens = [], {}, {"share": given(0.25)}
    schedule = Schedule.of(algorithm)
    for name, rule, resource in holders:
        if not all(rule.picks(schedule, None, role) for role in algorithm.roles):
            continue
        terms.append(term("byte", per={"role"}, resource=resource, live=rule)(formula(name, f"{name}_s", f"{name}_s")))
        for role in algorithm.roles:
            values[role, name] = random.randrange(4, 400, 4)
            givens[f"{role}.{name}_s"] = given(f"{values[role, name]} B", "byte")
    kept = [holder for holder in holders if holder[0] in {made.name for made in terms}]
    if not any(resource == "tensors" for _, _, resource in kept):
        reject()
    graph = compose(
        Parts(
            algorithm=algorithm,
            terms=tuple(terms),
            resources=RESOURCES,
            components={role: {"engine": GIVES_BACK} for role in giving},
            places={role: Place(process) for role, process in processes.items()},
            givens=givens,
        )
    )
    found = values_of(graph)
    wanted = lived_through(graph, values, kept, 0.25)
    told = {event: found[graph.resolve(f"{event}.used")] for event in wanted if _there(graph, f"{event}.used")}
    assert told == {event: value for event, value in wanted.items() if event in told}
    assert all(value == 0 for event, value in wanted.items() if event not in told)
    result = Result(None, graph, "used")  # type: ignore[arg-type]
    assert result.binding.value == found["used"] >= max(wanted.values())
    assert sum(value for _, value in result.binding.terms) == pytest.approx(result.binding.value)
    moving = next(path for path in givens if path != "share" and path in graph.nodes)
    swept = sweep(Plan.of(graph, ["used"]), {moving: [givens[moving].value]})
    assert swept.peak.tolist() == [found["used"]]
    assert swept.binding() == [result.binding.path]


def _there(graph: TermGraph, path: str) -> bool:
    return path in graph.nodes or path in graph.aliases


def kept_in(algorithm: Algorithm, **fields: Any) -> TermGraph:
    terms = (
        term("byte", per={"role"}, resource="tensors", live=resident)(formula("weights", "w", "w")),
        term("byte", per={"role"}, during={"train"}, resource="tensors", live=at("forward"))(formula("work", "a", "a")),
    )
    givens = {"w": given("10 B", "byte"), "a": given("5 B", "byte"), "share": given(0)}
    return compose(Parts(algorithm=algorithm, terms=terms, resources=RESOURCES, givens=givens, **fields))


def test_what_is_freed_stays_with_its_process():
    graph = kept_in(Algorithm(name="LAPS", phases={"rollout": {"policy": "generate"}, "update": {"policy": TRAIN}}))
    found = values_of(graph)
    assert found[graph.resolve("rollout:policy/decode.tensors")] == 10
    assert found[graph.resolve("rollout:policy/decode.held")] == 15
    assert found[graph.resolve("init:policy/load.held")] == 10
    result = Result(None, graph, "used")  # type: ignore[arg-type]
    assert result.binding.event == "update:policy/forward"
    assert result.bindings("rollout:used")[0].event == "rollout:policy/prefill"


def test_a_role_that_goes_away_gives_back_what_its_process_keeps():
    phases: dict[str, Any] = {
        "rollout": {"policy": "offloaded", "engine": "generate"},
        "update": {"policy": TRAIN, "engine": "asleep"},
    }
    graph = kept_in(Algorithm(name="LAPS", phases=phases), places={"engine": Place("server")})
    found = values_of(graph)
    assert found[graph.resolve("rollout:engine/decode.held")] == 10
    assert found[graph.resolve("update:policy/forward.held")] == 15
    assert found[graph.resolve("init:policy/load.held")] == 20
    one = kept_in(Algorithm(name="LAPS", phases={**phases, "rollout": {"policy": "idle", "engine": "generate"}}))
    assert values_of(one)[one.resolve("rollout:engine/decode.held")] == 20
    assert values_of(one)[one.resolve("update:policy/forward.held")] == 15


def test_phases_side_by_side_are_kept_together():
    phases: dict[str, dict[str, Any]] = {"rollout": {"policy": "generate"}, "update": {"critic": TRAIN}}
    algorithm = Algorithm(name="BESIDE", phases=phases, concurrent=(("rollout", "update"),))
    graph = kept_in(algorithm)
    found = values_of(graph)
    assert found[graph.resolve("rollout:used")] == found[graph.resolve("update:used")] == found["used"] == 25


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        ([Resource(name="a", unit="byte", includes="b")], "includes 'b', which is no resource"),
        (
            [Resource(name="a", unit="byte", includes="b"), Resource(name="b", unit="byte", includes="a")],
            "which is itself",
        ),
    ],
)
def test_what_rests_on_nothing_is_refused(resources, message):
    holder = term("byte", per={"role"}, resource="a", live=always)(formula("weights", "w", "w"))
    with pytest.raises(CompositionError, match=message):
        compose(
            Parts(
                algorithm=Algorithm(name="ONE", phases={"update": {"policy": TRAIN}}),
                terms=(holder,),
                resources={r.name: r for r in resources},
                givens={"w": given("1 B", "byte")},
            )
        )


def test_a_resource_that_keeps_says_what():
    with pytest.raises(CompositionError, match="includes no other resource"):
        Resource(name="a", unit="byte", kept=True)
    with pytest.raises(CompositionError, match="a parameter 'kept'"):
        Resource(name="a", unit="byte", includes="b", kept=True, overhead=term("byte")(formula("holes", "x", "x")))
