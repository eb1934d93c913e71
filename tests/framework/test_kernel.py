"""Sweeps of small graphs: the code that is generated for them, and its answers beside those of plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from alignsim import InvalidInput, Plan, Term, maths, term
from alignsim.given import given
from alignsim.graph import Node, TermGraph
from alignsim.kernel import Kernel

ROWS = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.0, 6.0])


@term("")
def product(x, y):
    return x * y


@term("")
def product_and_more(x, y):
    return x * y + (x * y) / 2


@term("")
def chosen(x, y):
    return maths.where(y > 0, y, x * x)


@term("")
def switched(x, y):
    return maths.where(x > y, maths.minimum(x, 4.0), -maths.floor(x / y)) + (x == y)


@term("")
def quotient(x, y):
    return x / (y - 2)


@term("")
def divided(x, y):
    return maths.minimum(x / y, y)


@term("", opaque=True)
def opaque(x, y):
    return max(x, y) ** 2


@term("", opaque=True)
def opaque_quotient(x, y):
    return int(x) / (int(y * 1e6) / 1e6 - 2)


def plan_of(*outputs: str, **terms: tuple[Term, tuple[str, ...]]) -> Plan:
    nodes = {name: Node(name, "given", "", given=given(2.0)) for name in ("a", "b")}
    nodes |= {name: Node(name, "term", "", inputs, used) for name, (used, inputs) in terms.items()}
    parts: Any = None
    return Plan.of(TermGraph(parts, nodes), outputs)


def answers(plan: Plan, chunk: int = 4, /, **columns: Any) -> Mapping[str, Any]:
    """The sweep's answers."""
    constants = {path: value for path, value in zip(plan.inputs, plan.values(), strict=True) if path not in columns}
    return Kernel(plan, tuple(columns), constants).run(list(columns.values()), chunk=chunk)


def one_by_one(plan: Plan, **columns: Any) -> Mapping[str, list[float]]:
    """The answers of one configuration at a time."""
    rows = [
        plan.evaluate(changes={path: float(column[row]) for path, column in columns.items()})
        for row in range(len(ROWS))
    ]
    return {path: [row[path] for row in rows] for path in rows[0]}


def listed(found: Mapping[str, Any]) -> dict[str, list[float]]:
    return {path: column.tolist() for path, column in found.items()}


def code(plan: Plan, *varying: str) -> str:
    constants = {path: value for path, value in zip(plan.inputs, plan.values(), strict=True) if path not in varying}
    return Kernel(plan, varying, constants).code[1]


def test_every_operation_is_done_once_and_answers_are_written_in_place():
    plan = plan_of("p", "q", p=(product, ("a", "b")), q=(product_and_more, ("a", "b")))
    assert code(plan, "a", "b") == (
        "def kernel(a0, a1, o0, o1, s0, total):\n"
        "    multiply(a0, a1, out=o0)\n"
        "    divide(o0, 2.0, out=s0)\n"
        "    add(o0, s0, out=o1)\n"
        "    add(total, o1, out=total)\n"
        "    return\n"
    )
    columns = {"a": ROWS, "b": ROWS[::-1].copy()}
    assert listed(answers(plan, **columns)) == one_by_one(plan, **columns)


def test_an_output_may_be_asked_for_twice():
    plan = plan_of("p", "b", "p", "a", "b", p=(product, ("a", "b")))
    assert list(answers(plan, a=ROWS)) == ["p", "b", "a"]


def test_branches_that_are_decided_cost_nothing():
    plan = plan_of("c", c=(chosen, ("a", "b")))
    assert "multiply" not in code(plan, "a")
    assert answers(plan, a=ROWS)["c"].tolist() == [2.0] * len(ROWS)


@pytest.mark.parametrize("used", [product, product_and_more, chosen, switched, opaque])
@pytest.mark.parametrize("varying", [("a",), ("b",), ("a", "b")])
@pytest.mark.parametrize("chunk", [1, 3, 7, 100])
def test_answers_are_those_of_one_configuration(used, varying, chunk):
    plan = plan_of("t", "again", "a", "u", t=(used, ("a", "b")), u=(used, ("t", "a")), again=(used, ("a", "b")))
    columns = {name: ROWS[::step].copy() for name, step in zip(varying, (1, -1), strict=False)}
    assert listed(answers(plan, chunk, **columns)) == one_by_one(plan, **columns)


def test_an_opaque_formula_of_what_was_folded_away():
    plan = plan_of("o", o=(opaque, ("c", "b")), c=(chosen, ("a", "b")))
    assert answers(plan, a=ROWS)["o"].tolist() == [4.0] * len(ROWS)


def test_the_first_row_that_gives_no_finite_number_is_named():
    plan = plan_of("q", q=(quotient, ("a", "b")))
    with pytest.raises(InvalidInput, match=r"q: row 5: float division by zero \(x / \(y - 2\), where a = 2, b = 2\)"):
        Kernel(plan, ("b",), {"a": 2.0}).run([ROWS], chunk=2)


def test_an_answer_that_is_no_number_is_found_behind_others_that_are():
    plan = plan_of("q", "c", "d", q=(quotient, ("a", "b")), c=(chosen, ("a", "q")), d=(divided, ("b", "q")))
    with pytest.raises(InvalidInput, match=r"q: row 5: float division by zero \(x / \(y - 2\), where a = 2, b = 2\)"):
        Kernel(plan, ("b",), {"a": 2.0}).run([ROWS], chunk=2)


@pytest.mark.parametrize("used", [product, chosen, switched, divided])
@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
def test_a_column_that_is_not_finite_is_refused_whatever_becomes_of_it(used, wrong):
    plan = plan_of("t", t=(used, ("a", "b")))
    with pytest.raises(InvalidInput, match=f"b: has a value that is not finite: {wrong} in row 7"):
        Kernel(plan, ("b",), {"a": 2.0}).run([np.append(ROWS, wrong)], chunk=2)


def test_an_opaque_formula_that_fails_is_refused():
    kernel = Kernel(plan_of("o", o=(opaque_quotient, ("a", "b"))), ("b",), {"a": 2.0})
    with pytest.raises(InvalidInput, match=r"o: row 5: float division by zero"):
        kernel.run([ROWS], chunk=4)
    with pytest.raises(InvalidInput, match="b: has a value that is not finite: nan in row 7"):
        kernel.run([np.append(ROWS, np.nan)], chunk=8)


def test_large_answers_are_no_mistake():
    plan = plan_of("p", p=(product, ("a", "b")))
    assert answers(plan, a=ROWS * 1e300, b=ROWS)["p"][4] == 9.0 * 1e300 * 9.0
