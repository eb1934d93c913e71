"""Many configurations at once give the very bits that one at a time gives, or both refuse."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given as forall
from hypothesis import reject, settings
from hypothesis import strategies as st

from alignsim import Given, InvalidInput, maths, term
from alignsim.errors import UnitError
from alignsim.plan import Plan
from alignsim.sweep import sweep
from small_graphs import graph_of, terms_of

NAMES = ("a", "b", "c", "d")
REFUSED = "refused"

floats = st.one_of(
    st.sampled_from([0.0, 1.0, 2.0, -1.0, 3.0, 0.5, 1e308, -1e308, 5e-324, 1e-300, 2.0**53, -(2.0**53), 2.0**53 - 1]),
    st.integers(-9, 9).map(float),
    st.integers(-(2**53), 2**53).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
)
constants = st.sampled_from(["0", "1", "2", "3", "0.0", "1.0", "0.5", "3000000000000", "9007199254740991", "1e300"])


def expressions(names):
    leaf = st.one_of(st.sampled_from(names), constants)

    def bigger(inner):
        condition = st.tuples(inner, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), inner).map(
            lambda p: f"({p[0]} {p[1]} {p[2]})"
        )
        value = st.one_of(inner, condition)
        return st.one_of(
            st.tuples(value, st.sampled_from(["+", "-", "*", "/"]), value).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
            value.map(lambda x: f"(-{x})"),
            st.tuples(st.sampled_from(["ceil", "floor"]), inner).map(lambda p: f"maths.{p[0]}({p[1]})"),
            st.tuples(st.sampled_from(["minimum", "maximum", "safe_divide"]), value, value).map(
                lambda p: f"maths.{p[0]}({p[1]}, {p[2]})"
            ),
            st.tuples(st.one_of(value, st.tuples(condition, condition).map(" * ".join)), value, value).map(
                lambda p: f"maths.where({p[0]}, {p[1]}, {p[2]})"
            ),
            condition,
        )

    return st.recursive(leaf, bigger, max_leaves=10)


@st.composite
def graphs(draw):
    """Some terms, each of which may use those before it; and rows of numbers for the givens."""
    lines = []
    names = list(NAMES)
    for i in range(draw(st.integers(1, 4))):
        expression = draw(expressions(names))
        used = [name for name in names if name in expression.replace("maths.", "")]
        lines.append(f"t{i}({', '.join(used)}) = {expression}")
        names.append(f"t{i}")
    rows = draw(st.lists(st.tuples(*[floats] * len(NAMES)), min_size=1, max_size=5))
    return lines, rows, draw(st.sets(st.sampled_from(NAMES), min_size=1))


def bits(number):
    return struct.pack("<d", float(number) + 0.0)  # a zero has no sign here


def alone(plan, changes):
    try:
        return plan.evaluate(changes=changes)
    except InvalidInput:
        return REFUSED


@settings(max_examples=150, deadline=None)
@forall(graphs())
def test_every_row_is_what_one_configuration_gives(case):
    lines, rows, moving = case
    terms = terms_of(*lines)
    used = {name for term_ in terms for name in term_.formula.parameters if name in NAMES}
    columns = {name: [row[NAMES.index(name)] for row in rows] for name in used}
    fixed = {name: column[0] for name, column in columns.items() if name not in moving}
    try:
        graph = graph_of(*terms, givens={name: Given(column[0]) for name, column in columns.items()})
    except UnitError:  # a formula that divides by zero whatever it is given
        reject()
    plan = Plan.of(graph, [term_.name for term_ in terms])
    moves = {name: column for name, column in columns.items() if name in moving}
    if not moves:
        return
    scalars = [alone(plan, fixed | {name: c[i] for name, c in moves.items()}) for i in range(len(rows))]
    good = [i for i, answer in enumerate(scalars) if answer is not REFUSED]
    for i in (i for i in range(len(rows)) if i not in good):
        with pytest.raises(InvalidInput):
            sweep(plan, {name: [column[i]] for name, column in moves.items()})
    if good:
        swept = sweep(plan, {name: [column[i] for i in good] for name, column in moves.items()})
        for path in plan.outputs:
            assert [bits(x) for x in swept[path]] == [bits(scalars[i][path]) for i in good], path


def both(line, moving, fixed=(), **columns):
    """Return the answers row by row, one at a time and all at once, which must be the same bits."""
    (one,) = terms_of(line)
    rows = max(map(len, columns.values()))
    graph = graph_of(one, givens={name: column[0] for name, column in columns.items()} | dict(fixed))
    plan = Plan.of(graph, [one.name])
    scalars = [plan.evaluate(changes={n: float(c[i]) for n, c in columns.items()})[one.name] for i in range(rows)]
    swept = sweep(plan, {name: columns[name] for name in moving})[one.name].tolist()
    assert [bits(x) for x in scalars] == [bits(x) for x in swept]
    return scalars


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("(a > 0) + (b > 0)", [0.0, 1.0, 2.0]),
        ("(a > 0) * (b > 0)", [0.0, 0.0, 1.0]),
        ("(a > 0) - (b > 0)", [0.0, -1.0, 0.0]),
        ("-(a > 0)", [0.0, 0.0, -1.0]),
        ("-a", [0.0, 1.0, -2.0]),
        ("(a > 0) / 2 + b", [0.0, 1.0, 3.5]),
        ("maths.where((a > 0) * (b > 0), 10, 20)", [20.0, 20.0, 10.0]),
        ("maths.where(a > 0, 3000000000000, 1) * maths.where(b > 0, 5000000000000, 1)", [1.0, 5e12, 1.5e25]),
        ("maths.where(a, b, -b)", [0.0, 1.0, 3.0]),
        ("maths.ceil(-0.5 + a * 0)", [0.0, 0.0, 0.0]),
        ("maths.safe_divide(b, a)", [0.0, -1.0, 1.5]),
        ("maths.minimum(a > 0, b > 0) + maths.maximum(a > 0, b > 0)", [0.0, 1.0, 2.0]),
        ("(a > 0) == (b > 0)", [1.0, 0.0, 1.0]),
    ],
)
def test_truth_values_and_signs_of_zero(expression, wanted):
    assert both(f"y(a, b) = {expression}", "ab", a=[0, -1, 2], b=[0, 1, 3]) == wanted


def test_a_zero_that_folding_makes_has_no_sign():
    line = "y(a, c) = -maths.minimum(0.0, -maths.where(a, a, c))"
    assert both(line, "c", fixed={"a": Given(-1.0)}, c=[1, 2]) == [0.0, 0.0]


def test_whole_numbers_stay_exact():
    big = 2**53 - 1
    assert both("y(a, b) = a + b", "a", a=[big - 1, 0], b=[1, 1]) == [float(big), 1.0]


@pytest.mark.parametrize("moving", [{"a": [1, 1], "b": [2, 0]}, {"b": [2, 0]}])
@pytest.mark.parametrize("expression", ["a / b", "maths.where(b > 0, a / b, 5)", "maths.where(a > 0, 5, a / b)"])
def test_division_by_zero_is_refused_with_path_and_row_whichever_branch_is_taken(expression, moving):
    (one,) = terms_of(f"y(a, b) = {expression}")
    plan = Plan.of(graph_of(one, givens={"a": 1, "b": 2}), ["y"])
    with pytest.raises(InvalidInput, match=r"y: float division by zero .*b = 0"):
        plan.evaluate(changes={"b": 0.0})
    with pytest.raises(InvalidInput, match=r"y: row 1: float division by zero .*b = 0"):
        sweep(plan, moving)


def test_a_constant_division_by_zero_is_refused_in_a_branch_that_no_row_takes():
    (one,) = terms_of("y(a, b) = maths.where(a > 0, 5, a / b)")
    plan = Plan.of(graph_of(one, givens={"a": 1, "b": 0}), ["y"])
    with pytest.raises(InvalidInput, match=r"y: row 0: float division by zero"):
        sweep(plan, {"a": [1, 2]})
    (other,) = terms_of("y(a, b) = maths.where(b > 0, a / b, a)")
    plan = Plan.of(graph_of(other, givens={"a": 1, "b": 0}), ["y"])
    with pytest.raises(InvalidInput, match=r"y: row 0: float division by zero"):
        sweep(plan, {"a": [1, 2]})


def test_safe_divide_is_for_the_branch_that_is_not_taken():
    assert both("y(a, b) = maths.where(b > 0, maths.safe_divide(a, b), 7)", "ab", a=[4, 4], b=[2, 0]) == [2.0, 7.0]


def test_what_is_not_a_number_never_hides_behind_a_larger_one():
    for expression in ("maths.maximum(a * 10 - a * 10, 5)", "maths.minimum(5, a * 10 - a * 10)"):
        (one,) = terms_of(f"y(a) = {expression}")
        plan = Plan.of(graph_of(one, givens={"a": 1}), ["y"])
        with pytest.raises(InvalidInput, match="not a finite number"):
            plan.evaluate(changes={"a": 1e308})
        with pytest.raises(InvalidInput, match="row 0 gives nan"):
            sweep(plan, {"a": [1e308]})


def test_an_overflow_that_does_not_reach_an_output_is_no_error_in_either():
    terms = terms_of("big(a) = a * 1e308", "y(big, b) = b / big")
    plan = Plan.of(graph_of(*terms, givens={"a": 1, "b": 1}), ["y"])
    assert plan.evaluate(changes={"a": 1e10})["y"] == 0.0
    assert sweep(plan, {"a": [1e10, 1.0]})["y"].tolist() == [0.0, 1 / 1e308]
    graph = graph_of(*terms, givens={"a": 1e10, "b": 1})
    assert sweep(Plan.of(graph, ["y"]), {"b": [1.0, 2.0]})["y"].tolist() == [0.0, 0.0]


def test_rows_in_several_chunks_are_the_same_rows():
    from alignsim.kernel import Kernel

    (one,) = terms_of("y(a, b) = maths.where(a > 3, a / b, maths.floor(a * b))")
    plan = Plan.of(graph_of(one, givens={"a": 1, "b": 3}), ["y"])
    column = sweep(plan, {"a": [float(i) for i in range(20)]}).columns["a"]
    wanted = [plan.evaluate(changes={"a": float(i)})["y"] for i in range(20)]
    for chunk in (1, 7, 20, 100):
        assert Kernel(plan, ("a",), {"b": 3.0}).run([column], chunk=chunk)["y"].tolist() == wanted


def test_opaque_terms_are_called_row_by_row_on_python_floats():
    @term("", opaque=True)
    def y(a, b):
        assert type(a) is float
        assert type(b) is float
        return math.floor(a) ** 2 + b if a > 1 else 0

    plan = Plan.of(graph_of(y, givens={"a": 1, "b": 3}), ["y"])
    assert sweep(plan, {"a": [1.0, 2.5, 3.0]})["y"].tolist() == [0.0, 7.0, 12.0]


def test_an_opaque_term_that_divides_by_zero_names_the_row():
    @term("", opaque=True)
    def y(a):
        return 1 / int(a)

    plan = Plan.of(graph_of(y, givens={"a": 1}), ["y"])
    with pytest.raises(InvalidInput, match="y: row 2: division by zero"):
        sweep(plan, {"a": [1.0, 2.5, 0.5]})


def test_maths_agrees_with_numpy_on_arrays():
    import numpy as np

    a, b = np.array([0.0, 1.5, -2.5, 4.0]), np.array([0.0, -1.0, 2.0, 0.0])
    for function in (maths.minimum, maths.maximum, maths.safe_divide):
        assert function(a, b).tolist() == [function(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    for rounded in (maths.ceil, maths.floor):
        assert rounded(a).tolist() == [rounded(x) for x in a.tolist()]
    assert maths.where(a > 0, a, b).tolist() == [0.0, 1.5, 2.0, 4.0]
