"""What a plugin of model architectures should pass."""

from __future__ import annotations

from typing import ClassVar

import pytest

from alignsim.algorithm import Algorithm
from alignsim.architecture import Architecture
from alignsim.compose import compose
from alignsim.parts import Parts
from alignsim.plan import Plan
from alignsim.registry import Registry, default_registry
from alignsim.term import Term, term
from alignsim.testing.kit import PluginTests, sourced
from alignsim.testing.setups import Workbench

ALONE = Algorithm(name="ALONE", phases={"look": {"policy": "infer"}})


@term("parameter", per={"role"}, source="what is asked for")
def asked(parameters: float) -> float:
    """The parameters of a model."""
    return parameters


class ArchitectureTests(PluginTests):
    """Conformance of a plugin that offers model architectures. Subclass it and say which plugin is meant."""

    subject: ClassVar[str] = "architecture"
    kind: ClassVar[str] = "architectures"

    def test_says_where_it_is_from(self, architecture: Architecture) -> None:
        """Its shape has a source, and so has the count that the shape is held to."""
        bare = [name for name, number in architecture.numbers().items() if not sourced(number.source)]
        assert not bare, f"say where these are from, with source= for all or sources= for some: {', '.join(bare)}"
        assert architecture.recorded is None or sourced(architecture.recorded.source), "say who counted: recorded"

    def test_shape_gives_the_recorded_count(self, architecture: Architecture, workbench: Workbench) -> None:
        """The parameters that follow from the shape are those that somebody counted without it."""
        if architecture.recorded is None or architecture.parameters is not None:
            pytest.skip("no count is recorded beside the shape")
        derived, recorded = parameters_of(architecture, workbench.registry), architecture.recorded.value
        assert derived == recorded, f"the shape gives {derived:,.0f} parameters, recorded are {recorded:,.0f}"

    def test_names_are_free(self, architecture: Architecture) -> None:
        """No name or alias is one that somebody else has. The plugin itself may be installed."""
        installed = default_registry().architectures
        for name in (architecture.name, *architecture.aliases):
            if name in installed and installed.offer(name).item != architecture:
                pytest.fail(f"{name!r} is {installed.offer(name).name} of {installed.origin(name)} already")


def parameters_of(architecture: Architecture, registry: Registry) -> float:
    """Return the parameters of a model by the terms of all plugins."""
    shapes: list[Term] = [t for t in registry.terms(ALONE) if t.per == {"model"}]
    facts = {f"{{{architecture.name}}}.{name}": number for name, number in architecture.numbers().items()}
    models = {"policy": architecture.name}
    graph = compose(Parts(algorithm=ALONE, terms=(*shapes, asked), models=models, facts=facts))
    return Plan.of(graph, ["policy.asked"]).evaluate()["policy.asked"]
