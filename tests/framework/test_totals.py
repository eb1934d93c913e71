"""The largest, over instants and kinds of rank, of what is live there: against brute force."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given as forall
from hypothesis import reject, settings
from hypothesis import strategies as st

from alignsim import (
    Activity,
    Algorithm,
    Component,
    Place,
    Resource,
    Slot,
    Stage,
    after,
    always,
    at,
    resident,
    span,
    term,
    while_,
)
from alignsim.compose import compose
from alignsim.errors import CompositionError
from alignsim.given import given
from alignsim.parts import Parts
from alignsim.plan import Plan
from alignsim.result import Result
from alignsim.schedule import Schedule
from alignsim.sweep import sweep
from small_graphs import DEVICE, LONE, PAIR, TRAIN, formula, graph_of, terms_of, values_of

ENGINE = Slot(name="engine")
PIPELINE = Component(
    name="pipeline", slot=ENGINE, stages=(Stage("first"), Stage("middle", present="middles"), Stage("last", "lasts"))
)
MOMENTS = ("forward", "backward_start", "backward_end", "optimizer_step", "prefill", "decode", "idle", "asleep", "x")
ACTIVITIES = ("train", "infer", "generate", "idle", "asleep", "offloaded", Activity("own", ("x", "forward"), "infer"))

simple = st.one_of(
    st.just(always),
    st.just(resident),
    st.lists(st.sampled_from(MOMENTS), min_size=1, max_size=2).map(lambda m: at(*m)),
    st.sampled_from(MOMENTS).map(after),
    st.sampled_from([("forward", "backward_end"), ("forward", "forward"), ("prefill", "decode"), ("x", "forward")]).map(
        lambda ends: span(*ends)
    ),
    st.sampled_from(["train", "infer", "generate", "load", "idle"]).map(while_),
)
liveness = st.one_of(
    simple,
    st.tuples(simple, simple).map(lambda p: p[0] | p[1]),
    st.tuples(simple, simple).map(lambda p: p[0] & p[1]),
)


@st.composite
def cases(draw):
    roles = draw(st.lists(st.sampled_from(["policy", "critic", "reward"]), min_size=1, max_size=3, unique=True))
    table = {
        f"phase{i}": {role: draw(st.sampled_from(ACTIVITIES)) for role in roles} for i in range(draw(st.integers(1, 3)))
    }
    algorithm = Algorithm(name="random", phases=table)
    holders = []
    for i in range(draw(st.integers(1, 5))):
        per = draw(st.sets(st.sampled_from(["role", "phase", "stage"])))
        holders.append((f"t{i}", frozenset(per), draw(liveness)))
    staged = draw(st.sets(st.sampled_from(roles)))
    pools = {role: draw(st.sampled_from(["gpus", "gpus", "others"])) for role in roles}
    masks = {"middles": draw(st.integers(0, 1)), "lasts": draw(st.integers(0, 1))}
    return algorithm, holders, staged, pools, masks, draw(st.randoms(use_true_random=False))


def brute_force(algorithm, values, holders, staged, pools, masks):
    """Add up by hand: every instant, every pool, every kind of rank."""
    schedule = Schedule.of(algorithm)
    largest: dict[tuple[str, str], float] = {}
    for pool in dict.fromkeys(pools.values()):
        tells = any(pools[role] == pool for role in staged)
        kinds = [s for s, on in (("first", 1), ("middle", masks["middles"]), ("last", masks["lasts"])) if on]
        for (i, event), kind in product(enumerate(schedule.events), kinds if tells else [None]):
            total = 0
            for (owner, phase, stage, name), value in values.items():
                live = next(live for n, _, live in holders if n == name)
                if owner and pools[owner] != pool:
                    continue
                if stage is not None and stage != kind:
                    continue
                if i in live.picks(schedule, phase, owner or None):
                    total += value
            key = (pool, "init" if event.lap == "init" else event.phase)
            largest[key] = max(largest.get(key, 0), total)
    return largest


@settings(max_examples=400, deadline=None)
@forall(cases())
def test_totals_are_the_brute_force_maximum(case):
    algorithm, holders, staged, pools, masks, random = case
    roles = algorithm.roles
    schedule = Schedule.of(algorithm)
    terms, values, givens = [], {}, {}
    kinds = {pool: any(pools[r] == pool for r in staged) for pool in pools.values()}
    for name, per, live in holders:
        size = f"{name}_size"
        per = per | {"role"}  # a term without an owner in several pools is another test's subject
        made = term("byte", per=per, resource="device", live=live)(formula(name, size, size))
        places = []
        for role in roles:
            for phase in algorithm.phases if "phase" in per else [None]:
                stages = ["first", "middle", "last"] if "stage" in per and kinds[pools[role]] else [None]
                places += [(role, phase, stage) for stage in stages]
        if not all(live.picks(schedule, phase, role) for role, phase, _ in places):
            continue  # refused: see below
        terms.append(made)
        for role, phase, stage in places:
            values[role, phase, stage, name] = random.randrange(1, 1000)
            path = f"{phase + ':' if phase else ''}{role}{f'[{stage}]' if stage else ''}.{size}"
            givens[path] = given(f"{values[role, phase, stage, name]} B", "byte")
    if not terms:
        reject()
    used = {name: given(masks[name]) for name in masks if any(kinds.values())}
    graph = compose(
        Parts(
            algorithm=algorithm,
            terms=tuple(terms),
            components={role: {"engine": PIPELINE} for role in staged},
            places={role: Place(f"process_{role}", pools[role]) for role in roles},
            resources={"device": DEVICE},
            facts=used,
            givens=givens,
        )
    )
    found = values_of(graph)
    wanted = brute_force(algorithm, values, holders, staged, pools, masks)
    assert found[graph.resolve("device")] == max(wanted.values())
    several = len(set(pools.values())) > 1
    for (pool, phase), value in wanted.items():
        path = f"{phase}:@{pool}.device" if several else f"{phase}:device"
        if value or path in graph.nodes or path in graph.aliases:
            assert found[graph.resolve(path)] == value
    if several:
        for pool in set(pools.values()):
            most = max(value for (where, _), value in wanted.items() if where == pool)
            if f"@{pool}.device" in graph.nodes:
                assert found[f"@{pool}.device"] == most
            else:
                assert most == 0
    result = Result(None, graph, "device")  # type: ignore[arg-type]
    binding = result.binding
    assert binding.value == max(wanted.values())
    assert sum(value for _, value in binding.terms) == binding.value
    runner_up = result.runner_up
    assert runner_up is None or runner_up.value <= binding.value
    moving = next(iter(givens))
    swept = sweep(Plan.of(graph, ["device"]), {moving: [givens[moving].value]})
    assert swept.peak.tolist() == [binding.value]
    (name,) = swept.binding()
    assert found[graph.resolve(name)] == binding.value


def held(name, live, *, per=("role",), unit="byte", resource="device", **options):
    return term(unit, per=per, resource=resource, live=live, **options)(formula(name, f"{name}_size", f"{name}_size"))


def sizes(**values):
    return {f"{name}_size": given(f"{value} B", "byte") for name, value in values.items()}


def test_a_maximum_of_sums_not_a_sum_of_maxima():
    graph = graph_of(
        held("weights", always),
        held("activations", span("forward", "backward_start")),
        held("step", at("optimizer_step")),
        givens=sizes(weights=100, activations=30, step=50),
    )
    found = values_of(graph)
    assert found["device"] == 150
    result = Result(None, graph, "device")  # type: ignore[arg-type]
    assert result.binding.event == "update:policy/optimizer_step"
    assert result.binding.terms == (("policy.weights", 100.0), ("policy.step", 50.0))
    assert result.runner_up is not None
    assert (result.runner_up.event, result.runner_up.value) == ("update:policy/forward", 130.0)
    assert {phase: float(total.magnitude) for phase, total in result.phases.items()} == {"init": 100.0, "update": 150.0}


def test_moments_of_adam_appear_after_the_first_step():
    graph = graph_of(
        held("moments", after("optimizer_step")),
        held("activations", at("forward")),
        givens=sizes(moments=8, activations=5),
    )
    found = values_of(graph)
    assert found[graph.resolve("update:policy/forward.device")] == 13
    assert found[graph.resolve("first~update:policy/forward.device")] == 5
    assert found[graph.resolve("first~update:policy/optimizer_step.device")] == 8


def test_a_term_that_is_never_live_is_refused():
    with pytest.raises(
        CompositionError, match=r"policy.cache: is live at decode, which never happens in algorithm LONE"
    ):
        graph_of(held("cache", at("decode")), givens=sizes(cache=1))
    with pytest.raises(CompositionError, match="from decode to prefill, which never happens"):
        graph_of(held("cache", span("decode", "prefill")), givens=sizes(cache=1))


def test_a_resource_that_adds_up_over_one_steady_lap():
    seconds = Resource(name="seconds", unit="s", over_events="sum")
    graph = graph_of(
        held("work", at("forward", "backward_end"), unit="s", resource="seconds"),
        held("setup", while_("load"), unit="s", resource="seconds"),
        algorithm=PAIR,
        resources={"seconds": seconds},
        givens={
            "policy.work_size": given("3 s", "s"),
            "reference.work_size": given("5 s", "s"),
            "setup_size": given("100 s", "s"),
        },
    )
    found = values_of(graph)
    assert found[graph.resolve("seconds")] == 3 + 3 + 5
    assert found[graph.resolve("update:seconds")] == 11


def test_kinds_of_rank_can_be_added_up():
    energy = Resource(name="energy", unit="joule", over_events="sum", over_stages="sum")
    one = term("joule", per={"role", "stage"}, resource="energy", live=at("forward"))(formula("heat", "q", "q"))
    graph = graph_of(
        one,
        components={"policy": {"engine": PIPELINE}},
        resources={"energy": energy},
        givens={"policy[first].q": given("1 J", "J"), "q": given("10 J", "J"), "middles": 1, "lasts": 0},
    )
    assert values_of(graph)[graph.resolve("energy")] == 11


def test_a_fill_takes_what_the_demand_leaves():
    pool = term("byte", per={"role"}, resource="device", live=at("forward"), fill=True)(_fill("pool", "forward"))
    graph = graph_of(
        held("weights", always),
        held("activations", at("forward", "backward_start")),
        pool,
        givens=sizes(weights=10, activations=5) | {"budget": given("100 B", "byte")},
    )
    found = values_of(graph)
    assert found["policy.pool"] == 85
    assert found["device"] == 100
    assert found[graph.resolve("device_demand")] == 15


def _fill(name, moment):
    from alignsim import Total
    from small_graphs import written

    source = f"def {name}(budget, taken=Total('device', at={moment!r})):\n    return budget - taken\n"
    return written(source, name, Total=Total)


def test_a_total_of_nothing_is_refused():
    pool = term("byte", per={"role"}, resource="device", live=at("forward"), fill=True)(_fill("pool", "forward"))
    with pytest.raises(
        CompositionError, match=r"policy.pool: reads 'update:policy/forward.device_demand', but nothing"
    ):
        graph_of(pool, givens={"budget": given("100 B", "byte")})


def test_a_total_under_another_spelling_of_its_instant():
    from alignsim import Total
    from small_graphs import written

    source = "def half(t=Total('device', at='backward_end')):\n    return t / 2\n"
    half = term("byte", per={"role"})(written(source, "half", Total=Total))
    graph = graph_of(held("weights", always), half, givens=sizes(weights=10))
    assert values_of(graph)["policy.half"] == 5


def test_pools_are_apart():
    graph = graph_of(
        held("weights", always),
        algorithm=PAIR,
        places={"reference": Place("server", "spare")},
        givens={"policy.weights_size": given("3 B", "byte"), "reference.weights_size": given("4 B", "byte")},
    )
    found = values_of(graph)
    assert (found["@gpus.device"], found["@spare.device"], found["device"]) == (3, 4, 4)


def test_a_term_without_an_owner_is_in_every_pool():
    one = term("byte", resource="device", live=always)(formula("context", "context_size", "context_size"))
    graph = graph_of(one, algorithm=PAIR, places={"reference": Place("server", "spare")}, givens=sizes(context=7))
    found = values_of(graph)
    assert (found["@gpus.device"], found["@spare.device"], found["device"]) == (7, 7, 7)


def test_a_kind_of_rank_of_one_pool_is_not_in_another():
    one = term("byte", per={"stage"}, resource="device", live=always)(formula("buffer", "buffer_size", "buffer_size"))
    graph = graph_of(
        one,
        algorithm=PAIR,
        components={"policy": {"engine": PIPELINE}},
        places={"reference": Place("server", "spare")},
        facts={"middles": given(1), "lasts": given(1)},
        givens=sizes(buffer=7),
    )
    found = values_of(graph)
    assert found[graph.resolve("@gpus.device")] == 7
    assert "@spare.device" not in graph.nodes


def test_phases_side_by_side_hold_what_all_have_and_each_ones_largest_transient():
    table: dict[str, dict[str, Any]] = {
        "rollout": {"policy": "generate"},
        "update": {"policy": "idle", "critic": TRAIN},
    }
    terms = (
        held("weights", always),
        held("cache", at("decode")),
        held("prefix", at("prefill")),
        held("activations", span("forward", "backward_start")),
        held("step", at("optimizer_step")),
    )
    values = {"weights": 10, "cache": 7, "prefix": 9, "activations": 20, "step": 25}
    for concurrent, wanted in ((), 45), ((("rollout", "update"),), 20 + 9 + 25):
        narrow = {"cache": "generate", "prefix": "generate", "activations": "train", "step": "train"}
        bound = [
            term(
                "byte",
                per={"role"},
                resource="device",
                live=t.live,
                during={narrow[t.name]} if t.name in narrow else None,
            )(t.formula.function)
            for t in terms
        ]
        graph = graph_of(
            *bound,
            algorithm=Algorithm(name="async", phases=table, concurrent=concurrent),
            givens=sizes(**values),
        )
        assert values_of(graph)["device"] == wanted
        result = Result(None, graph, "device")  # type: ignore[arg-type]
        assert sum(value for _, value in result.binding.terms) == wanted


@settings(max_examples=200, deadline=None)
@forall(st.data())
def test_lanes_against_brute_force(data):
    activity = st.sampled_from(["train", "infer", "generate"])
    table = {"one": {"a": data.draw(activity)}, "two": {"b": data.draw(activity)}, "three": {"c": data.draw(activity)}}
    algorithm = Algorithm(name="lanes", phases=table, concurrent=(("one", "two", "three"),))
    schedule = Schedule.of(algorithm)
    held_, givens, values = [], {}, {}
    for i in range(data.draw(st.integers(1, 4))):
        live = data.draw(liveness)
        if not all(live.picks(schedule, None, role) for role in algorithm.roles):
            continue
        held_.append(held(f"t{i}", live))
        for role in algorithm.roles:
            values[role, f"t{i}"] = (data.draw(st.integers(1, 99)), live.picks(schedule, None, role))
            givens[f"{role}.t{i}_size"] = given(f"{values[role, f't{i}'][0]} B", "byte")
    if not held_:
        reject()
    wanted = 0
    for lap in ("init", "first", "steady"):
        events = [i for i, e in enumerate(schedule.events) if e.lap == lap]
        alone = max(sum(v for v, live in values.values() if i in live) for i in events)
        wanted = max(wanted, alone)
        if lap == "init":
            continue
        lively = [i for i in events if any(i in live for _, live in values.values())]
        shared = sum(v for v, live in values.values() if lively and live.issuperset(lively))
        transients = 0
        for phase in algorithm.phases:
            own = [
                sum(v for v, live in values.values() if i in live and not live.issuperset(lively))
                for i in lively
                if schedule.events[i].phase == phase
            ]
            transients += max(own, default=0)
        if len({schedule.events[i].phase for i in lively}) > 1:
            wanted = max(wanted, shared + transients)
    assert values_of(graph_of(*held_, algorithm=algorithm, givens=givens))["device"] == wanted


def test_a_sweep_and_a_result_spell_the_binding_instant_alike():
    one = term("byte", per={"role", "stage"}, resource="device", live=always)(formula("buffer", "size", "size"))
    graph = graph_of(
        one,
        components={"policy": {"engine": PIPELINE}},
        givens={"policy[last].size": given("2 B", "byte"), "size": given("1 B", "byte"), "middles": 1, "lasts": 1},
    )
    result = Result(None, graph, "device")  # type: ignore[arg-type]
    swept = sweep(Plan.of(graph, ["device"]), {"policy[last].size": [2, 3], "lasts": [1, 0]})
    assert swept.peak.tolist() == [2, 1]
    assert swept.binding()[0] == result.binding.path == "update:policy/forward[last].device"
    assert swept.binding()[1] != result.binding.path


def test_order_of_terms_never_changes_a_number():
    lines = ["one(a) = a + 0.1", "two(one) = one * 3", "three(one, two) = one - two"]
    graphs = [
        graph_of(*terms_of(*order), givens={"a": 0.3}) for order in (lines, lines[::-1], [lines[1], lines[0], lines[2]])
    ]
    plans = [Plan.of(graph, ["three", "two"]) for graph in graphs]
    assert len({plan.source for plan in plans}) == 1
    assert len({tuple(plan.evaluate().items()) for plan in plans}) == 1
    assert LONE.roles == ("policy",)
