"""What a plugin of components should pass."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import ClassVar

from alignsim.component import Component
from alignsim.errors import suggestion
from alignsim.limits import ANY
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

    def test_defaults_are_within_their_limits(self, component: Component) -> None:
        """So that a run without a user's numbers is never refused for the component's own."""
        for name, constant in component.defaults.items():
            number = constant.as_given()
            for limit in (constant.limit, component.slot.limits.get(name, ANY), component.limits.get(name, ANY)):
                for end in ("low", "expected", "high"):
                    broken = [rule for rule, beyond in limit.rules(number.at(end)) if beyond]
                    assert not broken, f"the default of {name} {' and '.join(broken)}; it is {number.at(end):g}"

    def test_says_what_it_is_for(self, component: Component) -> None:
        """Where fillings of a slot are of several kinds, an algorithm can tell whether it works with this one."""
        told = ", ".join(repr(kind) for kind in component.slot.kinds)
        assert component.kinds or not component.slot.kinds, f"say kinds={{...}}: {told}, or one of your own"

    def test_keeps_what_its_slot_says_of_promises(self, component: Component, workbench: Workbench) -> None:
        """A promise has a value within the slot's limits, whether a default or a term gives it."""
        for run in islice(self.runs_of(component, workbench), 1):
            for role in run.algorithm.roles:
                if run.graph.parts.components[role].get(component.slot.name) == component:
                    for name, limit in component.slot.limits.items():
                        value = run.result.values.get(f"{role}.{name}", limit.least)
                        broken = [rule for rule, beyond in limit.rules(value) if beyond]
                        assert not broken, f"{role}.{name} {' and '.join(broken)}; it is {value:g}"

    def test_its_limits_are_of_numbers_that_are_there(self, component: Component, workbench: Workbench) -> None:
        """A limit of a misspelt number would be none."""
        runs = list(self.runs_of(component, workbench))
        known = {path.rpartition(".")[2] for run in runs for path in (*run.graph.nodes, *run.parts().facts)}
        known |= {name for slot in workbench.registry.slots.values() for name in slot.promises}
        known |= {name for other in workbench.registry.components.values() for name in other.defaults}
        for name, limit in component.limits.items():
            for each in (name, *limit.names):
                assert each in known, f"limits: no run that was found has {each!r}; {suggestion(each, known)}"

    def test_goes_with_some_algorithm(self, component: Component, workbench: Workbench) -> None:
        """At least one run can be made with it."""
        assert list(self.runs_of(component, workbench)), "no algorithm composes with it, whatever fills the other slots"

    def test_is_lawful(self, component: Component, workbench: Workbench) -> None:
        """With every algorithm that it goes with, it keeps the laws that every run keeps."""
        for run in self.runs_of(component, workbench):
            assert_lawful(run)
