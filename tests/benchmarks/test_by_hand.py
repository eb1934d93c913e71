"""What the benchmark compares answers alike, bit for bit. Nothing here looks at a clock."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from alignsim import Scenarios, quantity
from alignsim.units import base_unit
from benchmarks import by_hand

ROWS, CHUNK = 10_000, 1_024


@pytest.fixture(scope="module")
def plan() -> Any:
    return Scenarios.Llama2_70B_PpoAlignment.plan


def test_plan_equals_one_function(plan: Any) -> None:
    assert plan.inputs == by_hand.INPUTS
    assert plan.run(plan.values()) == by_hand.scalar(plan.values())


def test_plan_equals_the_formulas_on_quantities(plan: Any) -> None:
    units = [base_unit(plan.graph.nodes[path].unit) for path in plan.inputs]
    quantities = [quantity(value, unit) for value, unit in zip(plan.values(), units, strict=True)]
    answers = by_hand.scalar(quantities)
    assert [getattr(answer, "magnitude", answer) for answer in answers] == list(plan.run(plan.values()))


@pytest.mark.parametrize(
    ("names", "numpy"),
    [
        (by_hand.FIVE, by_hand.plain),
        (by_hand.FIVE, by_hand.five),
        (by_hand.TWO, by_hand.plain),
        (by_hand.TWO, by_hand.two),
    ],
)
def test_sweep_equals_numpy(plan: Any, names: Sequence[str], numpy: Callable[..., Any]) -> None:
    columns = by_hand.columns_of(names, ROWS)
    swept = Scenarios.Llama2_70B_PpoAlignment.sweep(columns)
    expected = numpy(dict(zip(plan.inputs, plan.values(), strict=True)), columns, CHUNK)
    for path, column in zip(plan.outputs, expected, strict=True):
        assert np.array_equal(swept[path], column), path


@pytest.mark.parametrize("names", [by_hand.FIVE, by_hand.TWO])
def test_sweep_equals_one_configuration_at_a_time(plan: Any, names: Sequence[str]) -> None:
    columns = by_hand.columns_of(names, ROWS)
    swept = Scenarios.Llama2_70B_PpoAlignment.sweep(columns)
    for row in range(0, ROWS, 97):
        changes = {name: float(column[row]) for name, column in columns.items()}
        expected = plan.evaluate(changes=changes)
        assert {path: swept[path][row] for path in plan.outputs} == expected
        assert all(math.isfinite(value) for value in expected.values())
