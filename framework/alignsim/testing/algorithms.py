"""What a plugin of algorithms should pass."""

from __future__ import annotations

from typing import ClassVar

from alignsim.algorithm import Algorithm
from alignsim.component import NONE
from alignsim.scenario import Scenario
from alignsim.testing.kit import PluginTests, faults, sourced
from alignsim.testing.laws import assert_lawful
from alignsim.testing.setups import Workbench


class AlgorithmTests(PluginTests):
    """Conformance of a plugin that offers algorithms. Subclass it and say which plugin is meant."""

    subject: ClassVar[str] = "algorithm"
    kind: ClassVar[str] = "algorithms"

    def run_of(self, algorithm: Algorithm, workbench: Workbench) -> Scenario:
        """Return a run of the algorithm with fillings that go together; override it to choose your own."""
        return workbench.run(algorithm.name)

    def test_says_where_it_is_from(self, algorithm: Algorithm) -> None:
        """Whoever doubts the table can look it up, and every number and term of it."""
        assert sourced(algorithm.source), "name the paper or the code that it follows: source="
        bare = [name for name, number in algorithm.numbers.items() if not sourced(number.source)]
        assert not bare, f"say where these numbers are from: {', '.join(bare)}"
        lacking = faults(algorithm.terms)
        assert not lacking, lacking

    def test_every_role_has_a_model(self, algorithm: Algorithm) -> None:
        """``model_of`` leads every role to one that brings a model."""
        for role in algorithm.roles:
            seen = [role]
            while seen[-1] in algorithm.model_of:
                seen.append(algorithm.model_of[seen[-1]])
                assert seen.count(seen[-1]) == 1, f"model_of goes round in circles: {' -> '.join(seen)}"

    def test_says_what_its_training_works_with(self, algorithm: Algorithm) -> None:
        """Else any loss would do, and a number would come of what no code runs."""
        bare = [
            role
            for role in algorithm.roles
            if "train" in algorithm.activities(role) and not any(p.partition(".")[0] == role for p in algorithm.needs)
        ]
        assert not bare, f"say which kind of loss it needs: needs={{'{bare[0]}.loss': ...}}"

    def test_every_phase_is_busy(self, algorithm: Algorithm) -> None:
        """No phase is there in which nobody does anything."""
        for phase, row in algorithm.phases.items():
            assert any(activity.moments for activity in row.values()), f"nobody does anything in {phase}"

    def test_composes_with_what_is_installed(self, algorithm: Algorithm, workbench: Workbench) -> None:
        """There is a filling for every slot, and with them a run has an answer."""
        assert self.run_of(algorithm, workbench).result.peak.magnitude > 0, "nothing takes up any memory"

    def test_every_slot_has_a_filling(self, algorithm: Algorithm, workbench: Workbench) -> None:
        """What the algorithm does can be counted: some filling other than ``none`` goes with it, for every slot."""
        run = self.run_of(algorithm, workbench)
        bare = sorted({key for key, component in run.components.items() if component.name == NONE})
        assert not bare, f"only 'none' goes with it for {', '.join(bare)}: what those count is lost"

    def test_phases_are_in_order(self, algorithm: Algorithm, workbench: Workbench) -> None:
        """A result tells the phases in the order of the table, after the loading."""
        told, stated = list(self.run_of(algorithm, workbench).result.phases), ["init", *algorithm.phases]
        assert told == stated, f"phases with something in them: {told}; the table has {stated}"

    def test_is_lawful(self, algorithm: Algorithm, workbench: Workbench) -> None:
        """Its run keeps the laws that every run keeps; every role appears in it."""
        assert_lawful(self.run_of(algorithm, workbench))
