"""All that comes with alignsim passes what any plugin should pass; a new built-in is found without an edit here."""

from itertools import islice

import alignsim_plugins
from alignsim.testing import (
    AlgorithmTests,
    ArchitectureTests,
    ComponentTests,
    FamilyTests,
    PresetTests,
    ReaderTests,
    ScenarioTests,
    SolverTests,
    TermTests,
)

BUILT_IN = alignsim_plugins.modules


class TestAlgorithms(AlgorithmTests):
    plugin = BUILT_IN


class TestComponents(ComponentTests):
    plugin = BUILT_IN

    def runs_of(self, component, workbench):
        """The first algorithm that it goes with: random runs are held to the laws with all of them."""
        return list(islice(workbench.runs_with(component), 1))


class TestTerms(TermTests):
    plugin = BUILT_IN


class TestArchitectures(ArchitectureTests):
    plugin = BUILT_IN


class TestFamilies(FamilyTests):
    plugin = BUILT_IN


class TestReaders(ReaderTests):
    plugin = BUILT_IN


class TestScenarios(ScenarioTests):
    plugin = BUILT_IN


class TestSolvers(SolverTests):
    plugin = BUILT_IN


class TestPresets(PresetTests):
    plugin = BUILT_IN
