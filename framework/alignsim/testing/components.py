"""What a plugin of components should pass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from alignsim.component import Component
from alignsim.scenario import Scenario
from alignsim.testing.kit import PluginTests, faults, sourced
from alignsim.testing.laws import assert_lawful
from alignsim.testing.setups import Workbench
from alignsim.units import dimension


class ComponentTests(PluginTests):
    """Conformance of a plugin that offers components. Subclass it and say which plugin is meant."""

    subject: ClassVar[str] = "component"
    kind: ClassVar[str] = "components"

    def runs_of(self, component: Component, workbench: Workbench) -> Iterable[Scenario]:
        """Return a run for each algorithm that it goes with; override it to choose your own."""
        return list(workbench.runs_with(component))

    def test_says_where_it_is_from(self, component: Component) -> None:
        """So do its terms, in words as well, and its defaults."""
        assert sourced(component.source), "name the paper, the code or the version that it follows: source="
        lacking = faults(component.terms)
        assert not lacking, lacking
        bare = [name for name, constant in component.defaults.items() if not sourced(constant.source)]
        assert not bare, f"say where these defaults are from: {', '.join(bare)}"

    def test_keeps_the_units_of_its_slot(self, component: Component) -> None:
        """What the slot promises is in the unit that the slot promises it in."""
        units = {term.name: term.unit for term in component.terms}
        units |= {name: constant.unit for name, constant in component.defaults.items()}
        for name, promised in component.slot.promises.items():
            told = f"{name} is in {units[name] or 'a plain number'}, and promised in {promised or 'a plain number'}"
            assert dimension(units[name]) == dimension(promised), told

    def test_goes_with_some_algorithm(self, component: Component, workbench: Workbench) -> None:
        """At least one run can be made with it."""
        assert list(self.runs_of(component, workbench)), "no algorithm composes with it, whatever fills the other slots"

    def test_is_lawful(self, component: Component, workbench: Workbench) -> None:
        """With every algorithm that it goes with, it keeps the laws that every run keeps."""
        for run in self.runs_of(component, workbench):
            assert_lawful(run)
