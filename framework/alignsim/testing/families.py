"""What a plugin of model families should pass."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from alignsim.counts import parameter_counts, total
from alignsim.errors import InvalidInput
from alignsim.family import Family
from alignsim.jsonfile import Document
from alignsim.shapes import KINDS, Shape, shape_of
from alignsim.testing.kit import PluginTests, sourced
from alignsim.testing.setups import Workbench

SIZES: Mapping[str, int] = {
    "layers": 2,
    "hidden": 64,
    "heads": 4,
    "kv_heads": 2,
    "head_dim": 16,
    "ffn": 96,
    "vocab": 100,
    "max_positions": 64,
    "experts": 4,
    "experts_per_token": 2,
    "shared_experts": 1,
    "dense_layers": 1,
    "expert_every": 1,
}
"""What a small model has; widths that are not here are 32."""


def small(family: Family) -> dict[str, Any]:
    """Return the file of a small model of a family: every key that it reads, the first spelling of each."""
    said = {keys[0]: SIZES.get(field, 32) for field, keys in family.keys.items() if not _is_flag(field)}
    return {"model_type": family.name, **said, **{k[0]: False for f, k in family.keys.items() if _is_flag(f)}}


def _is_flag(field: str) -> bool:
    return isinstance(KINDS[field].default, bool)


class FamilyTests(PluginTests):
    """Conformance of a plugin that offers families of models. Subclass it and say which plugin is meant."""

    subject: ClassVar[str] = "family"
    kind: ClassVar[str] = "families"

    def file_of(self, family: Family) -> dict[str, Any]:
        """Return a file that the family reads; override it where a small one needs more than the keys."""
        return small(family)

    def read(self, family: Family, file: Mapping[str, Any], workbench: Workbench) -> Shape:
        """Return what a file says; of a family that is about more than a language model, there is none."""
        if family.refused or family.inside:
            pytest.skip(f"{family.name} has no keys of its own")
        return shape_of(Document("config.json", json.dumps(file), file), workbench.registry.families, "small")

    def test_says_where_it_is_from(self, family: Family) -> None:
        """Whoever doubts a default or what is built in can look it up."""
        assert sourced(family.source), "name the code that it follows, and its version: source="

    def test_reads_a_small_file(self, family: Family, workbench: Workbench) -> None:
        """The keys are enough for a shape whose parameters can be counted."""
        shape = self.read(family, self.file_of(family), workbench)
        counted = total(parameter_counts(shape.architecture, workbench.registry))
        assert counted is not None
        assert counted > shape.architecture.layers * shape.architecture.hidden
        assert all(sourced(number.source) for number in shape.architecture.numbers().values())

    def test_refuses_nonsense(self, family: Family, workbench: Workbench) -> None:
        """A count that is none is refused, by its key."""
        file = self.file_of(family)
        for key in {key for field, keys in family.keys.items() for key in keys if key in file}:
            for nonsense in (-1, 1.5, "many", [2]):
                with pytest.raises(InvalidInput, match=key):
                    self.read(family, {**file, key: nonsense}, workbench)

    def test_what_it_is_about_can_be_read(self, family: Family, workbench: Workbench) -> None:
        """The family of the language model within is there."""
        if family.inside and family.language:
            assert not workbench.registry.families[family.language].inside
