"""What a plugin should pass, as pytest classes to subclass; laws of every run; registries for tests. It needs pytest.

Random runs are drawn by :mod:`alignsim.testing.drawn`, which needs hypothesis as well.
"""

from alignsim.testing.accelerators import AcceleratorTests
from alignsim.testing.algorithms import AlgorithmTests
from alignsim.testing.architectures import ArchitectureTests
from alignsim.testing.components import ComponentTests
from alignsim.testing.families import FamilyTests
from alignsim.testing.kit import workbench_of
from alignsim.testing.laws import LAWS, assert_lawful
from alignsim.testing.presets import PresetTests
from alignsim.testing.readers import ReaderTests
from alignsim.testing.registries import offering, registry_of
from alignsim.testing.scenarios import ScenarioTests
from alignsim.testing.setups import MODELS, Setup, Workbench
from alignsim.testing.solvers import SolverTests
from alignsim.testing.terms import TermTests

__all__ = [
    "LAWS",
    "MODELS",
    "AcceleratorTests",
    "AlgorithmTests",
    "ArchitectureTests",
    "ComponentTests",
    "FamilyTests",
    "PresetTests",
    "ReaderTests",
    "ScenarioTests",
    "Setup",
    "SolverTests",
    "TermTests",
    "Workbench",
    "assert_lawful",
    "offering",
    "registry_of",
    "workbench_of",
]
