"""What a plugin of model architectures should pass."""

from __future__ import annotations

from typing import ClassVar

import pytest

from alignsim.architecture import Architecture
from alignsim.counts import parameter_counts, total
from alignsim.registry import default_registry
from alignsim.testing.kit import PluginTests, sourced
from alignsim.testing.setups import Workbench


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
        derived, recorded = total(parameter_counts(architecture, workbench.registry)), architecture.recorded.value
        assert derived == recorded, f"the shape gives {derived:,.0f} parameters, recorded are {recorded:,.0f}"

    def test_names_are_free(self, architecture: Architecture) -> None:
        """No name or alias is one that somebody else has. The plugin itself may be installed."""
        installed = default_registry().architectures
        for name in (architecture.name, *architecture.aliases):
            if name in installed and installed.offer(name).item != architecture:
                pytest.fail(f"{name!r} is {installed.offer(name).name} of {installed.origin(name)} already")
