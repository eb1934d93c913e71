"""What a plugin of scenarios should pass."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import ClassVar

from alignsim.question import Question
from alignsim.scenario import Scenario
from alignsim.testing.kit import PluginTests, workbench_of
from alignsim.testing.laws import assert_lawful
from alignsim.testing.registries import registry_of


class ScenarioTests(PluginTests):
    """Conformance of a plugin that offers scenarios. Subclass it and say which plugin is meant."""

    subject: ClassVar[str] = "scenario"
    kind: ClassVar[str] = "scenarios"

    def offered(self) -> Mapping[str, Question]:
        """Return the plugin's scenarios, made with all that is installed beside it."""
        everything = workbench_of(self.plugin).registry.scenarios
        own = {report.provider.plugin for report in registry_of(self.plugin).plugins}
        return {name: found for name, found in everything.items() if everything.origin(name).plugin in own}

    def test_every_number_has_a_source(self, scenario: Question) -> None:
        """Whoever doubts a number can look it up. What the author chose is the source `user`, and counts."""
        assert not [path for path, number in scenario.graph.givens.items() if not number.source.strip()]

    def test_has_an_answer(self, scenario: Question) -> None:
        """Its solver is there and answers, with the same values when it is asked afresh."""
        answer, again = (scenario.registry.solvers[scenario.solver].solve(scenario) for _ in "ab")
        assert type(answer) is type(again)
        assert scenario.plan.evaluate() == pickle.loads(pickle.dumps(scenario)).plan.evaluate()

    def test_a_sweep_of_one_is_itself(self, scenario: Question) -> None:
        """Swept over its own value of each input, it gives its own answers, bit for bit."""
        values = dict(zip(scenario.plan.inputs, scenario.plan.values(), strict=True))
        one = scenario.plan.evaluate()
        for path, value in values.items():
            swept = scenario.sweep({path: [value, value]})
            assert {p: float(swept[p][1]).hex() for p in one} == {p: v.hex() for p, v in one.items()}, path

    def test_is_lawful(self, scenario: Question) -> None:
        """A run keeps the laws that every run keeps."""
        if isinstance(scenario, Scenario):
            assert_lawful(scenario)
