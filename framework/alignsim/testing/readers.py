"""What a plugin of readers should pass."""

from __future__ import annotations

from typing import ClassVar

import pytest

from alignsim.errors import InvalidInput
from alignsim.reader import Found, Reader
from alignsim.registry import default_registry
from alignsim.testing.kit import PluginTests
from alignsim.testing.setups import Workbench


class ReaderTests(PluginTests):
    """Conformance of a plugin that offers readers. Subclass it and say which plugin is meant.

    Attributes:
        examples: by a reader's name, paths or addresses that it reads.
        nowhere: texts that look like paths or addresses; nothing is there.
    """

    subject: ClassVar[str] = "reader"
    kind: ClassVar[str] = "readers"
    examples: ClassVar[dict[str, tuple[str, ...]]] = {}
    nowhere: ClassVar[tuple[str, ...]] = ("./no/such/place", "/no/such/config.json", "no-such.safetensors", "hub:")

    def test_says_what_it_reads(self, reader: Reader) -> None:
        """There is a line for people."""
        assert reader.about.strip(), "say what it reads: about="

    def test_leaves_names_alone(self, reader: Reader) -> None:
        """It does not take the name of anything for a path."""
        taken = [name for name in getattr(default_registry(), reader.catalogue) if reader.claims(name)]
        assert not taken, f"takes names for paths: {', '.join(taken[:5])}"

    def test_reads_its_examples(self, reader: Reader, workbench: Workbench) -> None:
        """What it is for, it does."""
        for example in self.examples.get(reader.name, ()):
            assert reader.claims(example), f"does not take {example}"
            assert isinstance(reader.read(example, workbench.registry), Found)

    def test_refuses_what_is_not_there(self, reader: Reader, workbench: Workbench) -> None:
        """Nothing there is an error in words, and nothing else."""
        for text in filter(reader.claims, self.nowhere):
            with pytest.raises(InvalidInput):
                reader.read(text, workbench.registry)
