"""A number is held to what is said of it where it is declared: in one run, and in every row of a sweep."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from alignsim import (
    Algorithm,
    Architecture,
    Batch,
    Component,
    Const,
    Given,
    InvalidInput,
    Layout,
    Limit,
    Origin,
    Scenario,
    Slot,
    term,
)
from alignsim.errors import CompositionError
from alignsim.limits import ANY, COUNT, SHARE, SIZE, SWITCH

MODEL = Architecture(name="tiny", layers=4, hidden=64, heads=8, ffn=128, vocab=100)
ALONE = Limit(2, because="two is all it can do; choose another")
BYTE = Const(1, "byte", source="test")
ENGINE = Slot(name="motor", promises={"share": "byte"}, required_for=frozenset({"infer"}))


@term("byte", per={"role"}, resource="allocated", source="test")
def share(tensor, hidden, one=BYTE):
    """Something."""
    return hidden * one / tensor


def component(**limits):
    return Component(name="two", slot=ENGINE, terms=(share,), limits=limits, source="test")


def run(tensor=1, layout=None, **more):
    return Scenario(
        algorithm=Algorithm(name="Ask", phases={"ask": {"a": "infer", "b": "infer"}}, source="test"),
        models={"a": MODEL, "b": MODEL},
        components={"*": "none", **more},
        layout=layout or Layout(tensor=tensor),
    )


def test_within_the_limit():
    assert run(2, motor=component(tensor=ALONE)).result.peak.magnitude == 64


def test_beyond_the_limit():
    with pytest.raises(
        CompositionError, match=r"tensor: must be at most 2 with motor 'two': two is all it can do; .* got 4"
    ):
        _ = run(4, motor=component(tensor=ALONE)).graph


def test_a_sweep_keeps_to_it():
    case = run(motor=component(tensor=ALONE))
    assert case.sweep(tensor=[1, 2]).peak.tolist() == [128, 64]
    with pytest.raises(InvalidInput, match="tensor: must be at most 2 with motor 'two'"):
        case.sweep(tensor=[1, 2, 4])


def test_a_limit_of_one_role_holds_for_a_number_of_all():
    one = {"a.motor": component(tensor=ALONE), "b.motor": component()}
    with pytest.raises(CompositionError, match="tensor: must be at most 2"):
        _ = run(4, **one).graph
    case = run(1, **one)
    case = case.using(layouts={"b": Layout(tensor=8)})
    assert case.result.peak.magnitude == 64 + 8


def test_of_two_limits_the_smaller_counts():
    one = {"a.motor": component(tensor=ALONE), "b.motor": component(tensor=Limit(1, because="one"))}
    with pytest.raises(InvalidInput, match="must be at most 1 with"):
        run(**one).sweep(tensor=[1, 2])


def test_a_limit_of_a_number_that_is_not_there_is_none():
    assert run(motor=component(tensr=ALONE)).result.peak.magnitude == 128


CHUNK = Const(4, limit=COUNT, source="test")


@term("byte", per={"role"}, resource="allocated", source="test")
def pieces(rank, drop, on, replicas, data, chunk=CHUNK, one=BYTE):
    """Something of every number."""
    return one * (rank + drop + on + replicas + data + chunk)


def numbers(limits=(), *, slot_limits=(), **defaults):
    slot = Slot(name="motor", limits=dict(slot_limits), required_for=frozenset({"infer"}))
    known = {
        "rank": Const(16, limit=COUNT, source="test"),
        "drop": Const(0, limit=SHARE, source="test"),
        "on": Const(1, limit=SWITCH, source="test"),
        "replicas": Const(1, limit=COUNT, source="test"),
        **defaults,
    }
    return Component(name="n", slot=slot, terms=(pieces,), defaults=known, limits=dict(limits), source="test")


DOMAINS = {"a.rank": COUNT, "a.drop": SHARE, "a.on": SWITCH, "chunk": COUNT, "data": COUNT}
INSIDE = {
    COUNT: lambda x: x >= 1 and x == int(x),
    SHARE: lambda x: 0 <= x <= 1,
    SWITCH: lambda x: x in (0, 1),
}
ODD = st.one_of(st.integers(-5, 5), st.floats(-1e6, 1e6), st.sampled_from([0, 1, 0.5, 1 + 2**-40, -0.0]))


def small(component, **more):
    return run(**{"a.motor": component, "b.motor": component}, **more)


@pytest.mark.parametrize("path", DOMAINS)
@settings(deadline=None)
@given(value=ODD)
def test_what_is_outside_is_refused_and_what_is_inside_is_not(path, value):
    case = small(numbers())
    one = case.with_givens({path: float(value)})
    if INSIDE[DOMAINS[path]](value):
        assert case.sweep({path: [value]}).peak.tolist() == [one.result.value("allocated")]
    else:
        message = rf"^{path.replace('.', '[.]')}: must be .*got {value:g}".replace("+", "[+]")
        with pytest.raises(CompositionError, match=message):
            _ = one.graph
        with pytest.raises(InvalidInput, match=f"{message} in row 1"):
            case.sweep({path: [1, value]})


def test_all_that_is_wrong_is_told_at_once_with_who_asks_and_where_it_is_from():
    wrong = {
        "a.rank": Given(0.5, origin=Origin("run.yaml", 7)),
        "b.drop": Given(3.0, source="a paper"),
        "chunk": Given(0.0),
    }
    with pytest.raises(CompositionError) as caught:
        _ = small(numbers()).with_givens(wrong).graph
    assert sorted(str(problem) for problem in caught.value.problems) == [
        "b.drop: must be at most 1 with motor 'n', got 3 (a paper)",
        f"chunk: must be at least 1 in {pieces.provider}, got 0",
        "run.yaml:7: a.rank: must be a whole number with motor 'n', got 0.5",
        "run.yaml:7: a.rank: must be at least 1 with motor 'n', got 0.5",
    ]


@pytest.mark.parametrize(("value", "low", "high"), [(0.5, -0.5, 0.6), (0.5, 0.4, 1.5)])
def test_a_range_lies_within_as_a_whole(value, low, high):
    with pytest.raises(CompositionError, match=r"a\.drop: must be at (least 0|most 1) .*got (-0.5|1.5)"):
        _ = small(numbers()).with_givens({"a.drop": Given(value, low=low, high=high)}).graph


def test_a_default_outside_its_own_limit_is_refused_as_well():
    bad = numbers(drop=Const(2, limit=SHARE, source="a slip"))
    with pytest.raises(CompositionError, match=r"a\.drop: must be at most 1 with motor 'n', got 2 \(a slip\)"):
        _ = small(bad).graph


def test_a_slot_says_what_its_promises_are_whatever_fills_it():
    switched = numbers(slot_limits={"on": SWITCH}, on=Const(1, source="test"))
    with pytest.raises(CompositionError, match="on: must be 0 or 1 for slot 'motor', got 2"):
        _ = small(switched).with_givens({"on": 2}).graph


def test_amounts_of_which_nobody_says_anything_are_not_negative():
    with pytest.raises(CompositionError, match=r"a\.share: must be at least 0, got -5"):
        _ = run(motor=component()).with_givens({"a.share": Given(-5.0, "byte")}).graph
    free = numbers(drop=Const(-1, limit=ANY, source="test"))
    assert small(free).result.value("allocated") == 2 * (16 - 1 + 1 + 1 + 1 + 4)


DIVIDES = {"replicas": Limit(divides="data", because="groups are alike")}


def test_a_number_must_divide_another():
    case = small(numbers(DIVIDES), layout=Layout(data=6)).with_givens({"a.replicas": 3})
    assert case.result.value("allocated") > 0
    with pytest.raises(CompositionError, match=r"a\.replicas: must divide data, which is 6 .*groups are alike; got 4"):
        _ = case.with_givens({"a.replicas": 4}).graph
    with pytest.raises(InvalidInput, match=r"a\.replicas: must divide data, which is 6 .*; got 4 in row 2"):
        case.sweep({"a.replicas": [1, 2, 4]})
    with pytest.raises(InvalidInput, match=r"a\.replicas: must divide data .*; got 3 with data 8 in row 1"):
        case.sweep({"data": [6, 8]})
    rows = case.sweep({"a.replicas": [1, 2, 4, 3], "data": [1, 6, 8, 9]})
    assert len(rows.peak) == 4


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 40), st.integers(1, 40))
def test_a_sweep_and_one_run_agree_on_what_divides(replicas, data):
    case = small(numbers(DIVIDES), layout=Layout(data=data))
    told = [_told(lambda: case.with_givens({"a.replicas": replicas}).graph)]
    told += [_told(lambda: case.sweep({"a.replicas": [replicas], "data": [data]}))]
    assert told == [data % replicas > 0] * 2


FITS = {"replicas": Limit(fits="data", because="heads are dealt out, or repeated")}


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 40), st.integers(1, 40))
def test_a_sweep_and_one_run_agree_on_what_fits(replicas, data):
    case = small(numbers(FITS), layout=Layout(data=data))
    told = [_told(lambda: case.with_givens({"a.replicas": replicas}).graph)]
    told += [_told(lambda: case.sweep({"a.replicas": [replicas], "data": [data]}))]
    assert told == [data % replicas > 0 and replicas % data > 0] * 2


def _told(ask):
    try:
        ask()
    except InvalidInput as error:
        return "must divide" in str(error)
    return False


def test_an_end_may_be_another_number_where_the_role_has_it():
    most = numbers({"rank": Limit("heads", because="one a head")})
    with pytest.raises(CompositionError, match=r"a\.rank: must be at most \{tiny\}\.heads, which is 8 .*; got 16"):
        _ = small(most).graph
    none = numbers({"rank": Limit("learned_positions", because="it has none")})
    assert small(none).result.value("allocated") > 0
    absent = numbers({"rank": Limit("haeds", because="nobody has such")})
    assert small(absent).result.value("allocated") > 0


@settings(deadline=None)
@given(ODD, ODD, st.booleans())
def test_a_rule_is_the_same_for_one_number_and_for_many(value, end, whole):
    import numpy as np

    assume(math.isfinite(value))
    limit = Limit(end, least=None, whole=whole)
    one = [bool(broken) for _, broken in limit.rules(value)]
    assert one == [bool(broken[0]) for _, broken in limit.rules(np.array([float(value)]))]
    assert SIZE.names == ()


def test_positions_that_are_learned_have_an_end():
    learned = Architecture(name="gpt", layers=2, hidden=64, heads=4, ffn=128, vocab=50, learned_positions=1024)
    case = Scenario(
        algorithm="SFT",
        models={"policy": learned},
        components={
            "precision": "bf16",
            "optimizer": "adamw-fused",
            "adapter": "full",
            "recompute": "full",
            "loss": "trl-fused",
            "attention": "sdpa",
            "engine": "single-device",
            "layers": "transformers",
            "packing": "equal",
        },
        batch=Batch(micro_batch=1, sequence_tokens=1024, prompt_tokens=0),
    )
    assert case.result.peak.magnitude > 0
    told = (
        r"sequence_tokens: must be at most \{gpt\}\.learned_positions, which is 1024: the model has learned .*got 1025"
    )
    with pytest.raises(CompositionError, match=told):
        _ = case.using(sequence_tokens=1025).graph
    with pytest.raises(InvalidInput, match=f"{told} in row 1"):
        case.sweep(sequence_tokens=[512, 1025])
    with pytest.raises(InvalidInput, match=r"prompt_tokens: must be at most sequence_tokens, .*got 2000"):
        case.sweep(prompt_tokens=[0, 2000])
    rotary = Architecture(name="gpt", layers=2, hidden=64, heads=4, ffn=128, vocab=50)
    assert case.using(models={"policy": rotary}, sequence_tokens=4096).result.peak.magnitude > 0


def of_a_term(unit, **more):
    @term(unit, per={"role"}, source="test", name="sort", **more)
    def sort(hidden):
        """Something."""
        return hidden

    @term("", per={"role"}, source="test", name="read")
    def read(sort):
        """Something that reads it."""
        return 1 * (sort > 0)

    slot = Slot(name="motor", required_for=frozenset({"infer"}))
    return Component(name="n", slot=slot, terms=(sort, read), source="test")


@pytest.mark.parametrize("unit", ["", "parameter", "layer", "token"])
@given(value=st.floats(-1e6, 1e6))
@settings(deadline=None)
def test_a_number_in_the_place_of_a_term_is_not_negative(unit, value):
    case = small(of_a_term(unit)).with_givens({"a.sort": value})
    if value >= 0:
        assert case.graph.nodes["a.sort"].given.value == value
    else:
        with pytest.raises(CompositionError, match=r"a\.sort: must be at least 0, got -"):
            _ = case.graph


def test_a_term_says_what_a_number_in_its_place_may_be():
    assert small(of_a_term("", limit=ANY)).with_givens({"a.sort": -1}).graph.nodes["a.sort"].given.value == -1
    assert (
        small(of_a_term("", condition="it holds")).with_givens({"a.sort": -1}).graph.nodes["a.sort"].given.value == -1
    )
    with pytest.raises(CompositionError, match=r"a\.sort: must be at most 1, got 2"):
        _ = small(of_a_term("", limit=SHARE)).with_givens({"a.sort": 2}).graph


def test_one_of_some_values():
    some = numbers({"rank": Limit(among=(1, 2, 4), because="so it is")}, rank=Const(4, source="test"))
    assert small(some).sweep({"a.rank": [1, 2, 4]}).peak.size == 3
    with pytest.raises(CompositionError, match=r"a\.rank: must be 1, 2 or 4 with motor 'n': so it is; got 3"):
        _ = small(some).with_givens({"a.rank": 3}).graph
    with pytest.raises(InvalidInput, match=r"a\.rank: must be 1, 2 or 4 .*got 3 in row 1"):
        small(some).sweep({"a.rank": [1, 3]})
