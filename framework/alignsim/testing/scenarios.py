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
        bare = [path for path, number in scenario.graph.givens.items() if not number.source.strip()]
        assert not bare, f"say where these are from: {', '.join(bare)}"

    def test_has_an_answer(self, scenario: Question) -> None:
        """Its solver is there and answers, with the same values when it is asked afresh."""
        answer, again = (scenario.registry.solvers[scenario.solver].solve(scenario) for _ in "ab")
        assert type(answer) is type(again), f"one {type(answer).__name__}, then a {type(again).__name__}"
        travelled = pickle.loads(pickle.dumps(scenario))
        assert scenario.plan.evaluate() == travelled.plan.evaluate(), "in another process it has another answer"

    def test_a_sweep_of_one_is_itself(self, scenario: Question) -> None:
        """Swept over its own value of each input, it gives its own answers, bit for bit."""
        values = dict(zip(scenario.plan.inputs, scenario.plan.values(), strict=True))
        one = scenario.plan.evaluate()
        for path, value in values.items():
            swept = scenario.sweep({path: [value, value]})
            unlike = [p for p, answer in one.items() if float(swept[p][1]).hex() != answer.hex()]
            assert not unlike, f"swept over {path}, these differ: {', '.join(unlike)}"

    def test_is_lawful(self, scenario: Question) -> None:
        """A run keeps the laws that every run keeps."""
        if isinstance(scenario, Scenario):
            assert_lawful(scenario)
