"""The reference case's solver: one plan, evaluated once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from alignsim import Explanation, Plan, Solver, UnknownName, explain, hookimpl, quantity
from alignsim_plugins.scenarios.alignment_memory import AlignmentMemoryScenario
from alignsim_plugins.scenarios.alignment_memory_terms import PATHS

if TYPE_CHECKING:
    import pint

SCHEMA = "alignsim.alignment-memory/1"


@attrs.frozen(kw_only=True, slots=False)
class AlignmentMemoryResult:
    """The answer to the reference case. Bytes are quantities with whole magnitudes where the number is whole.

    Attributes:
        scenario: the question.
        policy_state: weights, gradients, 32-bit copy and moments of the policy: 16 B a parameter.
        reference_weights: 2 B a parameter of the policy.
        reward_weights: 2 B a parameter of the critic.
        value_state: 16 B a parameter of the critic.
        ppo_total: the four together.
        dpo_total: policy state and reference weights.
        dpo_reduction: the share of ``ppo_total`` that DPO saves.
        model_parallel_devices: tp x pp.
        policy_per_device: ``policy_state`` over them.
        reference_per_device: ``reference_weights`` over them.
        kv_cache: keys and values of all rollout sequences in all layers of the policy.
        kv_per_device: the same over the model-parallel devices.
        min_devices_for_ppo: whole devices that ``ppo_total`` fills; None without a device memory.
        devices: devices of the layout: tp x pp x dp.
    """

    scenario: AlignmentMemoryScenario = attrs.field(repr=False)
    policy_state: pint.Quantity[Any]
    reference_weights: pint.Quantity[Any]
    reward_weights: pint.Quantity[Any]
    value_state: pint.Quantity[Any]
    ppo_total: pint.Quantity[Any]
    dpo_total: pint.Quantity[Any]
    dpo_reduction: float
    model_parallel_devices: int
    policy_per_device: pint.Quantity[Any]
    reference_per_device: pint.Quantity[Any]
    kv_cache: pint.Quantity[Any]
    kv_per_device: pint.Quantity[Any]
    min_devices_for_ppo: int | None
    devices: int

    @property
    def fits(self) -> bool | None:
        """Whether the devices of one copy, tp x pp, are at least ``min_devices_for_ppo``; None without a memory.

        Data-parallel replicas do not count: each holds a copy of its own.
        """
        return None if self.min_devices_for_ppo is None else self.min_devices_for_ppo <= self.model_parallel_devices

    @property
    def verdict(self) -> str:
        """:attr:`fits` in words; empty without a device memory."""
        if self.min_devices_for_ppo is None:
            return ""
        told = "fits" if self.fits else "does not fit"
        filled, spread = self.min_devices_for_ppo, self.model_parallel_devices
        return f"{told}: PPO's model state fills {filled} devices; the layout spreads a copy over {spread}"

    @cached_property
    def _values(self) -> Mapping[str, float]:
        graph = self.scenario.graph
        return Plan.of(graph, graph.order).evaluate()

    def explain(self, name: str = "ppo_total", depth: int | None = None) -> Explanation:
        """Return the history of a field, or of any value of the graph by its path.

        Raises:
            UnknownName: no field or value of that name.
        """
        graph = self.scenario.graph
        try:
            return explain(graph, self._values, PATHS.get(name, name), depth)
        except UnknownName:
            raise UnknownName("value", name, [*PATHS, *graph.nodes]) from None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON: bytes, counts and a share; ``schema`` names its version."""
        numbers = {name: _plain(getattr(self, name)) for name in PATHS}
        return {"schema": SCHEMA, "scenario": self.scenario.name, **numbers, "fits": self.fits}

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)


def _whole(number: float) -> float | int:
    return int(number) if number == int(number) else number


def _plain(value: Any) -> Any:
    return value.m_as("byte") if hasattr(value, "m_as") else value


@attrs.frozen
class AlignmentMemoryModel:
    """Answers an :class:`AlignmentMemoryScenario` with an :class:`AlignmentMemoryResult`."""

    name: str = "AlignmentMemoryModel"

    def solve(self, scenario: AlignmentMemoryScenario) -> AlignmentMemoryResult:
        """Return all fields of the answer.

        Raises:
            InvalidInput: a formula does not give a finite number.
        """
        values = scenario.plan.evaluate()
        fields: dict[str, Any] = {"min_devices_for_ppo": None}
        for name, path in PATHS.items():
            if path in values:
                number = _whole(values[path])
                fields[name] = quantity(number, "byte") if scenario.graph[path].unit == "byte" else number
        return AlignmentMemoryResult(scenario=scenario, **fields)


@hookimpl
def alignsim_solvers() -> Iterator[Solver]:
    """Offer the reference case's solver."""
    yield AlignmentMemoryModel()
