"""The language of formulas: what it takes, what it refuses with which advice, and where it reads formulas from."""

from __future__ import annotations

import functools
import importlib
import sys
from textwrap import dedent
from typing import Any

import pytest

from alignsim import maths, term
from alignsim.errors import FormulaError
from alignsim.formula import Formula
from alignsim.maths import ceil as up
from small_graphs import written

LIMIT = 4


def language(expression, parameters="a, b", **names):
    return Formula(written(f"def f({parameters}):\n    return {expression}\n", **names))


@pytest.mark.parametrize(
    "expression",
    [
        "a + b",
        "a - b * 2 / 3.5",
        "-(a + b)",
        "a * (b > 0)",
        "maths.where(a > b, maths.minimum(a, b), maths.maximum(a, 0))",
        "maths.ceil(a / b) + maths.floor(a)",
        "maths.safe_divide(a, b)",
        "(a == b) + (a != b) + (a < b) + (a <= b) + (a >= b)",
        "5",
    ],
)
def test_what_the_language_has(expression):
    formula = language(expression)
    assert formula.equation == expression.replace("maths.", "")
    assert formula(3.0, 2.0) == eval(expression, {"maths": maths, "a": 3.0, "b": 2.0})


def test_functions_of_maths_under_any_name():
    assert language("m.ceil(a) + up(b)", m=maths, up=up).equation == "ceil(a) + ceil(b)"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("a ** 2", r"cannot use \*\*; write the product out: x \* x"),
        ("a if a > 0 else b", r"cannot use if; use maths\.where\(condition, yes, no\)"),
        ("sum(a)", r"cannot use sum; declare a parameter with Collect\(group\)"),
        ("max(a, b)", r"cannot use max; use maths\.maximum"),
        ("min(a, b)", r"cannot use min; use maths\.minimum"),
        ("round(a)", r"cannot use round; use maths\.ceil or maths\.floor"),
        ("a // b", r"cannot use //; use maths\.floor\(a / b\)"),
        ("a % b", r"cannot use %; write a - b \* maths\.floor\(a / b\)"),
        ("(a > 0) and (b > 0)", r"cannot use and/or; multiply the conditions"),
        ("not a", r"cannot use not; compare with the opposite"),
        ("0 < a < b", r"cannot use a chained or membership comparison"),
        ("a in b", r"cannot use a chained or membership comparison"),
        ("a is b", r"cannot use a chained or membership comparison"),
        ("a & b", r"cannot use BitAnd"),
        ("a @ b", r"cannot use MatMult"),
        ("+a", r"cannot use UAdd"),
        ("a[0]", r"cannot use \[\.\.\.\]"),
        ("a.real", r"cannot use Attribute"),
        ("lambda: a", r"cannot use lambda"),
        ("[a, b]", r"cannot use List"),
        ("(a, b)", r"cannot use Tuple"),
        ("f'{a}'", r"cannot use JoinedStr"),
        ("(c := a)", r"cannot use NamedExpr"),
        ("'text'", r"cannot use the constant 'text'"),
        ("True", r"cannot use the constant True"),
        ("None", r"cannot use the constant None"),
        ("1j", r"cannot use the constant 1j"),
        ("a * 9007199254740993", r"cannot use a whole number above 2\^53"),
        ("maths.where(condition=a, yes=a, no=b)", r"cannot use keyword arguments in a call"),
        ("abs(a)", r"cannot use a call of abs"),
        ("maths.cbrt(a)", r"cannot use a call of maths\.cbrt"),
        ("math.floor(a)", r"cannot use a call of math\.floor"),
        ("a * LIMIT", r"'LIMIT' is not a parameter; make it one, with a Const\(\.\.\.\) default"),
        ("a * maths", r"'maths' is not a parameter"),
        ("a * unheard_of", r"'unheard_of' is not a parameter"),
    ],
)
def test_what_it_refuses_and_what_to_write_instead(expression, message):
    import math

    with pytest.raises(FormulaError, match=message) as caught:
        _ = language(expression, LIMIT=LIMIT, math=math).equation
    (problem,) = caught.value.problems
    assert problem.field == "f"
    assert problem.origin is not None
    assert problem.origin.line == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("x = a\n    return x + b", "more than one return expression"),
        ("if a: return b\n    return a", r"cannot use if; use maths\.where"),
        ("return", "more than one return expression"),
        ("pass", "more than one return expression"),
        ("for i in a: pass", "more than one return expression"),
    ],
)
def test_one_return_and_nothing_else(body, message):
    with pytest.raises(FormulaError, match=message):
        _ = Formula(written(f"def f(a, b):\n    {body}\n")).equation


def test_every_refusal_tells_of_the_way_out():
    with pytest.raises(FormulaError, match=r"or declare it with opaque=True \(called row by row in sweeps\)"):
        _ = language("a ** b").equation


def test_a_docstring_is_no_statement():
    formula = Formula(written('def f(a):\n    """Twice.\n\n    More."""\n    return a + a\n'))
    assert (formula.equation, formula.summary) == ("a + a", "Twice.")


@pytest.mark.parametrize("parameters", ["*a", "**a"])
def test_every_input_has_a_name(parameters):
    with pytest.raises(FormulaError, match=r"takes \*a; name every input"):
        _ = language("1", parameters).parameters


def test_inputs_come_by_position():
    with pytest.raises(FormulaError, match="takes 'a' by keyword only; formulas are called by position"):
        _ = language("a", "*, a").parameters
    assert language("a + b", "a, /, b").equation == "a + b"


def test_opaque_is_anything_at_all():
    formula = Formula(written("def f(a):\n    if a > 1:\n        return a ** 2\n    return 0\n"), opaque=True)
    assert formula.expression is None
    assert formula.equation == "computed by Python code"
    assert formula(3) == 9


# ---- where formulas are read from -----------------------------------------------------------------------------------


def test_a_function_of_this_file():
    @term("")
    def twice(a, b=2):
        """Twice."""
        return a + a + up(b)

    assert twice.formula.equation == "a + a + ceil(b)"
    assert twice.origin.file == __file__
    assert twice.provider.endswith("test_a_function_of_this_file.<locals>.twice")


def test_two_functions_of_one_name_in_one_file_are_told_apart():
    def make(which):
        if which:

            def f(a):
                return a + 1

        else:

            def f(a):
                return a + 2

        return Formula(f)

    assert make(True).equation == "a + 1"
    assert make(False).equation == "a + 2"


def test_what_is_run_without_a_file_has_no_source_and_is_opaque():
    namespace: dict[str, Any] = {}
    exec("def f(a):\n    return a + 1\n", namespace)
    assert Formula(namespace["f"]).expression is None
    assert Formula(namespace["f"]).equation == "computed by Python code"


def test_a_notebook_cell_is_read_like_a_file():
    assert Formula(written("x = 1\n\ndef f(a):\n    return a * 3\n")).equation == "a * 3"


def test_a_decorated_function_is_opaque_since_its_source_is_not_what_runs():
    def doubled(function):
        @functools.wraps(function)
        def inner(a):
            return 2 * function(a)

        return inner

    @term("")
    @doubled
    def f(a):
        return a + 1

    assert f(1) == 4
    assert f.formula.expression is None


def test_a_value_from_an_enclosing_function_must_be_a_parameter():
    def make(factor):
        @term("")
        def scaled(a):
            return a * factor

        return scaled

    with pytest.raises(FormulaError, match="'factor' is not a parameter"):
        _ = make(3).formula.equation


def test_a_function_of_maths_from_an_enclosing_function():
    def make(round_up):
        @term("")
        def whole(a):
            return round_up(a)

        return whole

    assert make(maths.ceil).formula.equation == "ceil(a)"
    with pytest.raises(FormulaError, match="a call of round_up"):
        _ = make(abs).formula.equation


@pytest.fixture
def module(tmp_path, monkeypatch):
    file = tmp_path / "edited_formulas.py"
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(text):
        file.write_text(dedent(text))

    write("def f(a):\n    return a + 1\n")
    yield importlib.import_module("edited_formulas"), write
    del sys.modules["edited_formulas"]


def test_a_module_that_is_loaded_again_is_read_again(module):
    loaded, write = module
    assert Formula(loaded.f).equation == "a + 1"
    write("def f(a):\n    return a + 2 * a\n")
    assert Formula(importlib.reload(loaded).f).equation == "a + 2 * a"


def test_a_file_that_was_edited_and_not_loaded_again_is_refused(module):
    loaded, write = module
    write("def f(a):\n    return a + 2 * a\n")
    with pytest.raises(FormulaError, match="gives other numbers than its source"):
        _ = Formula(loaded.f).equation
