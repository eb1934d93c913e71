"""What goes together, what does not, and what each error says."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from alignsim import (
    Activity,
    Algorithm,
    Collect,
    Component,
    Const,
    Of,
    Place,
    Resource,
    Slot,
    Stage,
    always,
    at,
    explain,
    term,
)
from alignsim.algorithm import OFFLOADED
from alignsim.compose import compose
from alignsim.errors import (
    CompositionError,
    CycleError,
    DuplicateName,
    InvalidInput,
    MissingInput,
    UnitError,
    UnknownName,
    UnusedInput,
)
from alignsim.given import Given, given
from alignsim.plan import Plan
from alignsim.scope import Scope, parse, spell
from small_graphs import DEVICE, INFER, LONE, PAIR, TRAIN, graph_of, parts_of, terms_of, values_of, written

BYTE = given("1 B", "byte")


def with_markers(source, name, unit="", **options):
    markers = {"Const": Const, "Of": Of, "Collect": Collect}
    return term(unit, **options)(written(f"def {source}\n", name, **markers))


def message(error, call):
    with pytest.raises(error) as caught:
        call()
    return [str(problem).partition(": ")[2] if problem.origin else str(problem) for problem in caught.value.problems]


# ---- what is missing -------------------------------------------------------------------------------------------------


def test_a_missing_input_lists_where_it_was_looked_for_and_near_names():
    (one,) = terms_of("update(weigth_bytes) = weigth_bytes", per={"role", "phase", "stage"})
    engine = Component(name="e", slot=Slot(name="engine"), stages=(Stage("first"),))
    (found,) = message(
        MissingInput,
        lambda: graph_of(
            one,
            models={"policy": "Llama-3.1-8B"},
            components={"policy": {"engine": engine}},
            facts={"weight_bytes": given(2)},
        ),
    )
    name = "weigth_bytes"
    tried = [
        f"{phase}{owner}{stage}{'.' if owner or stage else ''}{name}"
        for owner in ("policy", "{Llama-3.1-8B}", "%trainer", "@gpus", "")
        for phase, stage in (("update:", "[first]"), ("", "[first]"), ("update:", ""), ("", ""))
    ]
    assert found == (
        f"update:policy[first].update: needs 'weigth_bytes', which nothing provides (looked for {', '.join(tried)}); "
        "did you mean weight_bytes?"
    )


def test_the_order_of_lookups_is_nearest_first():
    scope = Scope("update", "policy", "first", "M", "trainer", "gpus")
    assert list(scope.lookups("x"))[:5] == [
        "update:policy[first].x",
        "policy[first].x",
        "update:policy.x",
        "policy.x",
        "update:{M}[first].x",
    ]
    engine = Component(name="e", slot=Slot(name="engine"), stages=(Stage("first"),))
    (one,) = terms_of("y(x) = x", per={"role", "phase", "stage"})
    paths = list(scope.lookups("x"))
    for i in range(len(paths)):
        graph = graph_of(
            one,
            models={"policy": "M"},
            components={"policy": {"engine": engine}},
            facts={path: given(j) for j, path in list(enumerate(paths))[i:]},
        )
        assert values_of(graph)["update:policy[first].y"] == i


def test_a_slot_that_promises_the_name_is_named():
    engine = Slot(name="engine", promises={"shard": "a share"})
    (one,) = terms_of("y(shard) = shard", per={"role"})
    (found,) = message(MissingInput, lambda: graph_of(one, slots={"engine": engine}))
    assert found.endswith("slot 'engine' promises it: choose a component")


def test_a_required_slot_that_is_unfilled():
    engine = Slot(name="engine", required_for=frozenset({"train"}))
    (found,) = message(
        CompositionError, lambda: graph_of(*terms_of("y(a) = a"), slots={"engine": engine}, givens={"a": 1})
    )
    assert (
        found
        == "policy.engine: slot 'engine' is unfilled for 'policy', which does train; choose a component, or 'none'"
    )


def test_a_component_keeps_its_slots_promises():
    with pytest.raises(
        CompositionError, match=r"component engine:mine: does not provide shard, which slot 'engine' promises"
    ):
        Component(name="mine", slot=Slot(name="engine", promises={"shard": "a share"}))


# ---- two of one name -------------------------------------------------------------------------------------------------


def test_two_terms_of_one_name_are_both_named():
    one, other = terms_of("y(a) = a", "y(a) = a + 1")
    (found,) = message(DuplicateName, lambda: graph_of(one, other, givens={"a": 1}))
    assert found.startswith(f"y: both written.y ({one.origin}) and written.y ({other.origin}) provide it; write @term(")


def test_one_term_twice_is_one_term():
    (one,) = terms_of("y(a) = a")
    assert values_of(graph_of(one, one, givens={"a": 1}))["y"] == 1


def test_a_replacement_takes_the_place():
    (base,), (new,) = terms_of("y(a) = a"), terms_of("y(a) = a * 10", replaces=True)
    for order in permutations([base, new]):
        assert values_of(graph_of(*order, givens={"a": 1}))["y"] == 10


def test_a_replacement_with_nothing_to_replace():
    (new,) = terms_of("wieghts(a) = a", replaces=True)
    (base,) = terms_of("weights(a) = a")
    (found,) = message(CompositionError, lambda: graph_of(new, base, givens={"a": 1}))
    assert found == "wieghts: replaces a term, but there is none to replace; did you mean weights?"


def test_two_replacements_of_one_name():
    (base,) = terms_of("y(a) = a")
    one, other = terms_of("y(a) = a * 2", "y(a) = a * 3", replaces=True)
    (found,) = message(DuplicateName, lambda: graph_of(base, one, other, givens={"a": 1}))
    assert "let one name the other: replaces='written.y'" in found


def test_one_replacement_names_the_other():
    def plain(a):
        return a

    def better(a):
        return a * 2

    def best(a):
        return a * 3

    base, one = term("", name="y")(plain), term("", name="y", replaces=True)(better)
    two = term("", name="y", replaces=one.provider)(best)
    for order in permutations([base, one, two]):
        assert values_of(graph_of(*order, givens={"a": 1}))["y"] == 3
    wrong = term("", name="y", replaces="acme.bettr")(best)
    (found,) = message(CompositionError, lambda: graph_of(base, wrong, givens={"a": 1}))
    assert "replaces 'acme.bettr', which is not here" in found


# ---- groups, resources -----------------------------------------------------------------------------------------------


def test_a_group_within_the_scope_of_who_asks():
    own, shared = terms_of("x(a) = a", per={"role"}, group="g") + terms_of("z(b) = b", per={"model"}, group="g")
    total = with_markers("total(c=Collect('g')):\n    return c", "total", per={"role"})
    largest = with_markers("largest(c=Collect('g', 'max')):\n    return c", "largest", per={"role"})
    some = with_markers("some(c=Collect('g', roles=('policy',))):\n    return c", "some")
    everything = with_markers("everything(c=Collect('g')):\n    return c", "everything")
    graph = graph_of(
        own,
        shared,
        total,
        largest,
        some,
        everything,
        algorithm=PAIR,
        models={"policy": "M", "reference": "N"},
        givens={"policy.a": 1, "reference.a": 2, "{M}.b": 10, "{N}.b": 20},
    )
    found = values_of(graph)
    assert (found["policy.total"], found["reference.total"]) == (11, 22)
    assert (found["policy.largest"], found["reference.largest"]) == (10, 20)
    assert (found["some"], found["everything"]) == (1, 33)


def test_a_group_that_nobody_is_in():
    total = with_markers("total(c=Collect('model_stat')):\n    return c", "total")
    (x,) = terms_of("x(a) = a", group="model_state")
    (found,) = message(CompositionError, lambda: graph_of(x, total, givens={"a": 1}))
    assert found == "total: collects group 'model_stat', but no term here is in it; did you mean model_state?"


def test_a_group_adds_like_with_like():
    group = terms_of("x(a) = a", group="g") + terms_of("z(b) = b", unit="byte", group="g")
    total = with_markers("total(c=Collect('g')):\n    return c", "total")
    with pytest.raises(UnitError, match=r"sum\(g\): its members measure different things: a plain number, byte"):
        graph_of(*group, total, givens={"a": 1, "b": BYTE})


def test_a_reduction_that_there_is_not():
    with pytest.raises(ValueError, match="'reduce' must be in"):
        Collect("g", "mean")  # type: ignore[arg-type]
    with pytest.raises(CompositionError, match=r"Resource.over_events: no reduction 'mean'"):
        Resource(name="r", unit="byte", over_events="mean")


def test_a_resource_that_no_total_collects():
    (one,) = terms_of("x(a) = a", unit="byte", resource="devise", live=always)
    (found,) = message(CompositionError, lambda: graph_of(one, givens={"a": BYTE}))
    assert found == "x: no total collects resource 'devise'; did you mean device?"


def test_live_without_a_resource_and_dimensions_that_there_are_not():
    with pytest.raises(CompositionError, match="says when it is live, but of no resource"):
        terms_of("x(a) = a", live=at("forward"))
    with pytest.raises(CompositionError, match="no dimension 'roll'; did you mean role"):
        terms_of("x(a) = a", per={"roll"})
    with pytest.raises(CompositionError, match="a term has one owner"):
        graph_of(*terms_of("x(a) = a", per={"role", "model"}), givens={"a": 1})


@pytest.mark.parametrize("what", [abs, 5, "text", print])
def test_only_functions_are_terms(what):
    with pytest.raises(CompositionError, match="a term is a plain function, written with def"):
        term("")(what)


def test_a_term_may_not_be_called_as_a_total_is():
    terms = terms_of("device(a) = a", unit="byte") + terms_of("x(a) = a", unit="byte", resource="device")
    with pytest.raises(CompositionError, match="device: is the name of a resource's total"):
        graph_of(*terms, givens={"a": BYTE})


# ---- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "error", "wanted"),
    [
        ("policy.b", UnusedInput, "nothing reads this input"),
        ("critic.a", CompositionError, "no owner 'critic'; known: "),
        ("polcy.a", CompositionError, "no owner 'polcy'; did you mean policy?"),
        ("updat:policy.a", CompositionError, "no phase 'updat'; did you mean update?"),
        ("policy[first].a", CompositionError, "no kind of rank 'first'; none is known"),
        ("{M}.a", CompositionError, "no owner '{M}'"),
    ],
)
def test_a_number_that_nobody_reads(path, error, wanted):
    (one,) = terms_of("y(a) = a", per={"role"})
    found = message(error, lambda: graph_of(one, givens={"a": 1, path: 2}))
    assert any(f"{path}: {wanted}" in line for line in found)


def test_a_fact_that_nobody_reads_is_fine():
    assert values_of(graph_of(*terms_of("y(a) = a"), facts={"a": given(1), "b": given(2)})) == {"a": 1, "y": 1}


@pytest.mark.parametrize(
    "path", ["", "a b", "policy.", ".a", "a..b", "x[y]z", "policy[first", "{}.a", "update:", "ü-a", "a\n"]
)
def test_what_is_not_a_path(path):
    with pytest.raises(InvalidInput, match="is not a path; write"):
        parse(path)


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("a", ("a", "", None, None)),
        ("update:a", ("a", "", "update", None)),
        ("update:policy[first].a", ("a", "policy", "update", "first")),
        ("[first].a", ("a", "", None, "first")),
        ("{Llama-3.1-8B}.layers", ("layers", "{Llama-3.1-8B}", None, None)),
        ("%trainer.a", ("a", "%trainer", None, None)),
        ("@gpus.größe", ("größe", "@gpus", None, None)),
    ],
)
def test_paths_are_read_as_they_are_spelt(path, wanted):
    name, owner, phase, stage = parse(path)
    assert (name, owner, phase, stage) == wanted
    assert spell(name, owner, phase, stage) == path


def test_a_number_in_a_terms_place_pins_it_and_explain_shows_what_it_stands_for():
    terms = terms_of("y(a) = a * 2", "z(y) = y + 1")
    graph = graph_of(*terms, givens={"y": given(100, source="our own count")})
    found = explain(graph, values_of(graph), "z")
    assert found.value == 101
    (child,) = [explanation for _, explanation in found.inputs]
    assert child.origin == "our own count instead of a * 2 by written.y"
    assert "a" not in graph.nodes


def test_a_number_at_one_role_pins_that_role_alone():
    terms = terms_of("y(a) = a", per={"role"})
    (all_,) = [with_markers("all_(c=Of('policy.y'), d=Of('reference.y')):\n    return c + d", "all_")]
    graph = graph_of(*terms, all_, algorithm=PAIR, givens={"a": 1, "policy.y": 5})
    assert values_of(graph)["all_"] == 6


def test_a_bare_number_takes_the_unit_of_what_it_overrides():
    size = with_markers("size(n, each=Const(2, 'KiB')):\n    return n * each", "size", "byte")
    assert values_of(graph_of(size, givens={"n": 1}))["size"] == 2048
    assert values_of(graph_of(size, givens={"n": 1, "each": 3}))["size"] == 3 * 1024
    assert values_of(graph_of(size, givens={"n": 1, "each": given("3 B", "byte")}))["size"] == 3
    reader = terms_of("reader(size) = size", unit="byte")
    assert values_of(graph_of(size, *reader, facts={"n": given(1)}, givens={"size": 7}))["reader"] == 7


def test_a_bare_number_whose_unit_nobody_can_know():
    slots = [Slot(name="one"), Slot(name="two")]
    size = terms_of("size(n) = n", unit="byte", per={"role"})
    thousand = terms_of("size(n) = n", unit="KiB", per={"role"})
    fillings = {
        "policy": {"one": Component(name="b", slot=slots[0], terms=size)},
        "reference": {"two": Component(name="k", slot=slots[1], terms=thousand)},
    }
    both = with_markers("both(p=Of('policy.size'), r=Of('reference.size')):\n    return p + r", "both", "byte")
    for roles in (("policy", "reference"), ("reference", "policy")):

        def composed(roles=roles, **given_):
            return graph_of(
                both, algorithm=PAIR, components={r: fillings[r] for r in roles}, facts={"n": BYTE}, **given_
            )

        assert values_of(composed(givens={"policy.size": 5, "reference.size": 5}))["both"] == 5 + 5 * 1024
        for path in ("size", "@gpus.size"):
            with pytest.raises(UnitError, match="needs its unit: 'size' is in KiB and byte here"):
                composed(givens={path: 5})


def test_a_number_of_the_wrong_dimension():
    (one,) = terms_of("y(a, b) = a + b", unit="byte")
    with pytest.raises(UnitError, match=r"y: a \+ b does not go together with a in byte, b in second"):
        graph_of(one, givens={"a": BYTE, "b": given("1 s", "s")})
    with pytest.raises(UnitError, match="y: is in s, but 'y' is in byte"):
        graph_of(*terms_of("y(a) = a", unit="byte"), *terms_of("z(y) = y", unit="s"), givens={"y": given("1 s", "s")})


def test_two_defaults_of_one_name_that_differ():
    one = with_markers("one(slack=Const('1 GiB', 'byte')):\n    return slack", "one", "byte")
    two = with_markers("two(slack=Const('2 GiB', 'byte')):\n    return slack", "two", "byte")
    (found,) = message(CompositionError, lambda: graph_of(one, two))
    assert found.startswith("slack: written.one has the default 1 GiB byte, and written.two has 2 GiB byte; give one")
    assert values_of(graph_of(one, two, givens={"slack": given("3 B", "byte")}))["two"] == 3


def test_the_same_default_twice_is_one_number():
    one = with_markers("one(slack=Const(5)):\n    return slack", "one")
    two = with_markers("two(slack=Const(5)):\n    return slack * 2", "two")
    assert values_of(graph_of(one, two)) == {"slack": 5, "one": 5, "two": 10}


def test_a_default_is_its_terms_own_whatever_the_order():
    one = with_markers("one(slack=Const(5)):\n    return slack", "one")
    reads = [terms_of("two(slack) = slack")[0], with_markers("three(s=Of('slack')):\n    return s", "three")]
    for other in reads:
        for order in permutations([one, other]):
            with pytest.raises(MissingInput, match="needs 'slack', which nothing provides"):
                graph_of(*order)


def test_a_plain_number_is_a_default_too():
    two = with_markers("two(a=3):\n    return a", "two")
    assert values_of(graph_of(two))["two"] == 3
    assert values_of(graph_of(two, givens={"a": 4}))["two"] == 4


def test_defaults_of_components_stand_at_their_role():
    slots = [Slot(name="one"), Slot(name="two")]
    one = Component(name="x", slot=slots[0], defaults={"a": Const(1)})
    two = Component(name="y", slot=slots[1], defaults={"a": Const(2)})
    y = terms_of("y(a) = a", per={"role"})
    assert values_of(graph_of(*y, components={"policy": {"one": one}}))["policy.y"] == 1
    assert values_of(graph_of(*y, components={"policy": {"one": one}}, givens={"a": 9}))["policy.y"] == 9
    (found,) = message(DuplicateName, lambda: graph_of(*y, components={"policy": {"one": one, "two": two}}))
    assert found == "policy.a: both component one:x and component two:y have a default for it"


# ---- graphs ----------------------------------------------------------------------------------------------------------


def test_a_cycle_is_named():
    with pytest.raises(CycleError, match=r"these need each other: a -> b -> a|these need each other: b -> a -> b"):
        graph_of(*terms_of("a(b) = b", "b(a) = a"))


def test_a_term_never_reads_itself():
    (inner,), (outer,) = terms_of("x(x) = x * 2", per={"role"}), terms_of("x(a) = a")
    assert values_of(graph_of(inner, outer, givens={"a": 3}))["policy.x"] == 6
    with pytest.raises(MissingInput, match="needs 'x', which nothing provides"):
        graph_of(*terms_of("x(x) = x"))


def test_a_name_of_another_owner():
    size = terms_of("size(n) = n", per={"role"})
    twice = with_markers("twice(s=Of('policy.size')):\n    return s * 2", "twice", per={"role"})
    found = values_of(graph_of(*size, twice, algorithm=PAIR, givens={"policy.n": 3, "reference.n": 5}))
    assert (found["policy.twice"], found["reference.twice"]) == (6, 6)


def test_a_name_of_another_owner_in_ones_own_phase_and_kind_of_rank():
    engine = Component(name="e", slot=Slot(name="engine"), stages=(Stage("first"), Stage("last")))
    size = terms_of("size(n) = n", per={"role", "phase", "stage"})
    seen = with_markers("seen(s=Of('policy.size')):\n    return s", "seen", per={"role", "phase", "stage"})
    graph = graph_of(
        *size,
        seen,
        algorithm=PAIR,
        components={"policy": {"engine": engine}},
        givens={"update:policy[first].n": 1, "update:policy[last].n": 2, "reference.n": 5},
    )
    assert (values_of(graph)["update:reference[first].seen"], values_of(graph)["update:reference[last].seen"]) == (1, 2)


@pytest.mark.parametrize(
    ("line", "unit", "wanted"),
    [
        ("y(b) = b", "", r"declares a plain number, but b gives \[information\] \(with b in byte\)"),
        ("y(n) = n", "byte", "declares byte, but n gives dimensionless"),
        ("y(b, n) = b + n", "byte", r"b \+ n does not go together with b in byte"),
        ("y(b, n) = maths.where(n > 0, b, n)", "byte", "does not go together with b in byte"),
        ("y(b, n) = maths.where(n > 0, n, b)", "byte", "does not go together with b in byte"),
        ("y(b, n) = maths.maximum(b, n)", "byte", "does not go together with b in byte"),
        ("y(b) = maths.ceil(b)", "byte", "only counts can be rounded"),
        ("y(b) = b > 5", "", "does not go together with b in byte"),
        ("y(n) = n / (n - n)", "", r"n / \(n - n\) divides by zero for ordinary inputs"),
    ],
)
def test_units_are_checked_when_a_graph_is_composed(line, unit, wanted):
    (one,) = terms_of(line, unit=unit)
    used = {name: number for name, number in {"b": BYTE, "n": given(3)}.items() if name in one.formula.parameters}
    with pytest.raises(UnitError, match=wanted):
        graph_of(one, givens=used)


@pytest.mark.parametrize(
    ("line", "unit"),
    [
        ("y(b, n) = b * n", "byte"),
        ("y(b) = maths.where(b > 0, b, 0)", "byte"),
        ("y(b) = maths.maximum(b, 0) - maths.minimum(0, b)", "byte"),
        ("y(b) = maths.ceil(b / b)", ""),
        ("y(b) = 0 * b", "byte"),
        ("y(b) = 0", "byte"),
        ("y(n) = maths.where(n, 1, 2)", ""),
        ("y(b, n) = maths.safe_divide(b, n)", "byte/token"),
    ],
)
def test_formulas_whose_units_are_right(line, unit):
    (one,) = terms_of(line, unit=unit)
    used = {n: v for n, v in {"b": BYTE, "n": Given(3.0, "device")}.items() if n in one.formula.parameters}
    assert "y" in graph_of(one, givens=used).nodes


@pytest.mark.parametrize("answer", [None, "text", [1], object()])
def test_an_opaque_term_gives_a_number(answer):
    with pytest.raises(UnitError, match="which is not a number"):
        graph_of(term("", name="y", opaque=True)(lambda: answer))


def test_all_that_has_a_wrong_unit_at_once():
    terms = terms_of("x(b) = b", "y(b) = b * b")
    with pytest.raises(UnitError) as caught:
        graph_of(*terms, givens={"b": BYTE})
    assert len(caught.value.problems) == 2


def test_order_never_changes_a_result():
    terms = terms_of("one(a) = a + 0.1", "two(one) = one * 3", "three(one, two) = one - two", per={"role"})
    sources, values = set(), set()
    for order in permutations(terms):
        graph = graph_of(*order, algorithm=PAIR, givens={"policy.a": 0.3, "reference.a": 0.7})
        plan = Plan.of(graph, ["policy.three", "reference.three"])
        sources.add(plan.source)
        values.add(tuple(plan.evaluate().values()))
    assert len(sources) == len(values) == 1


def test_a_role_is_in_one_process_and_a_process_in_one_pool():
    places = {"policy": Place("trainer", "gpus"), "reference": Place("trainer", "others")}
    with pytest.raises(CompositionError, match="process 'trainer' cannot be on two pools, 'gpus' and 'others'"):
        graph_of(*terms_of("y(a) = a"), algorithm=PAIR, places=places, givens={"a": 1})
    with pytest.raises(CompositionError, match="algorithm LONE has no such role"):
        graph_of(*terms_of("y(a) = a"), places={"polcy": Place()}, givens={"a": 1})


@pytest.mark.parametrize("word", ["a b", "", "x.y", "@gpus", "%p", 5, None])
def test_places_are_spelt_as_words(word):
    for field in ("process", "pool"):
        with pytest.raises(InvalidInput, match="spelt with letters, digits and _"):
            Place(**{field: word})


def test_values_are_found_by_path_or_the_nearest_is_told():
    graph = graph_of(*terms_of("y(a) = a", per={"role"}), givens={"policy.a": 1})
    with pytest.raises(UnknownName, match=r"no value is named 'polcy.y'; did you mean policy.y"):
        graph.resolve("polcy.y")
    assert graph.input_path("a") == graph.input_path("policy.a") == "policy.a"
    with pytest.raises(UnknownName, match="no input is named 'b'"):
        graph.input_path("b")


def test_terms_exist_while_their_role_does_something():
    made = terms_of("y(a) = a", per={"role", "phase"}, during={"train"})
    table: dict[str, Any] = {
        "one": {"policy": TRAIN, "critic": INFER},
        "two": {"policy": OFFLOADED, "critic": Activity("own", like="train")},
    }
    graph = graph_of(*made, algorithm=Algorithm(name="X", phases=table), givens={"a": 1})
    assert {path for path in graph.nodes if path.endswith(".y")} == {"one:policy.y", "two:critic.y"}


@pytest.mark.parametrize("count", [400])
def test_many_roles_are_no_trouble(count):
    many = Algorithm(name="many", phases={"work": {f"role{i}": INFER for i in range(count)}})
    held = terms_of("x(a) = a", unit="byte", per={"role"}, resource="device", live=always)
    graph = compose(parts_of(*held, algorithm=many, resources={"device": DEVICE}, givens={"a": BYTE}))
    from alignsim.sweep import sweep

    plan = Plan.of(graph, ["device"])
    assert plan.evaluate()["device"] == count
    assert sweep(plan, {"a": [1, 2]}).peak.tolist() == [count, 2 * count]


def test_a_long_chain_of_terms_is_no_trouble():
    lines = ["t0(a) = a + 1", *(f"t{i}(t{i - 1}) = t{i - 1} + 1" for i in range(1, 1500))]
    graph = graph_of(*terms_of(*lines), givens={"a": 0})
    assert Plan.of(graph, ["t1499"]).evaluate()["t1499"] == 1500
    assert LONE.roles == ("policy",)
