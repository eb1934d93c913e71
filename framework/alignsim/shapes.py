"""From a configuration file to the shape of a model, by the family that the file says it is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

import attrs

from alignsim.architecture import Architecture
from alignsim.errors import InvalidInput, Problem, near, suggestion
from alignsim.family import Family
from alignsim.fields import Fields, short
from alignsim.given import EXACT
from alignsim.jsonfile import Document

TYPE = "model_type"
KINDS = {field.name: field for field in attrs.fields(Architecture)}
NEEDED = ("layers", "hidden", "heads")
WITH_EXPERTS = ("experts_per_token", "expert_ffn", "expert_every", "dense_layers", "shared_ffn", "shared_experts")
EXPERT_FLAGS = ("expert_bias", "router_bias", "router_in_32_bits", "shared_gate")


@attrs.frozen
class Shape:
    """What a configuration file says of a language model.

    Attributes:
        architecture: its shape; every number says where it is from.
        family: the family that it was read by.
        notes: what the file does not say, and what of it is not counted; one line each.
    """

    architecture: Architecture
    family: str
    notes: tuple[str, ...] = ()


def shape_of(document: Document, families: Mapping[str, Family], name: str) -> Shape:
    """Return the shape that a configuration file describes.

    Args:
        document: the file.
        families: the families that are known, by ``model_type``.
        name: what the model is called.

    Raises:
        InvalidInput: a family that is not known, or whatever is wrong with the file, each with its key and line.
    """
    try:
        return _shape(document, Fields(document.content), families, name)
    except InvalidInput as error:
        raise document.located(error) from None


def _shape(document: Document, config: Fields, families: Mapping[str, Family], name: str) -> Shape:
    family = _family(config, families)
    outer = [(family, config)] if family.inside else []
    if family.inside:
        config = config.inside(family.inside)
        family = families[family.language] if TYPE not in config.data else _family(config, families)
        if family.inside:
            raise config.wrong(TYPE, f"{family.name!r} is about more than a language model, and so is what it is in")
    reading = _Reading(document, config, family, outer[0] if outer else None)
    fields = reading.fields()
    try:
        shape = Architecture(name=name, source=document.file, sources=reading.sources(fields), **fields)
    except InvalidInput as error:
        raise InvalidInput(list(reading.by_key(error))) from None
    return Shape(shape, family.name, tuple(reading.notes(shape)))


def _family(config: Fields, families: Mapping[str, Family]) -> Family:
    named = config.text(TYPE)
    family = families.get(named)
    if family is None or named not in (family.name, *family.aliases):
        new = f" (`alignsim models new {named}` prints a plugin that teaches it)" if _plain(named) else ""
        message = f"no family of models is known as {short(named)}{new}; {suggestion(named[:60], families)}"
        raise config.wrong(TYPE, message)
    if family.refused:
        raise config.wrong(TYPE, f"models of family {named!r} cannot be described yet: {family.refused}")
    return family


def _plain(named: str) -> bool:
    return len(named) <= 60 and named.replace("-", "").replace("_", "").replace(".", "").isalnum()


@attrs.define
class _Reading:
    """One file, read by one family."""

    document: Document
    config: Fields
    family: Family
    outer: tuple[Family, Fields] | None
    found: dict[str, str] = attrs.field(factory=dict)
    silent: dict[str, Any] = attrs.field(factory=dict)
    finished: set[str] = attrs.field(factory=set)

    def fields(self) -> dict[str, Any]:
        """Return the fields of the architecture."""
        fields: dict[str, Any] = {}
        problems: list[Problem] = []
        for field, spellings in self.family.keys.items():
            try:
                fields |= self._field(field, spellings)
            except InvalidInput as error:
                problems += [p for p in error.problems if p not in problems]
        if problems:
            raise InvalidInput([*problems, *self._missing(fields, problems)])
        for field, value in self.family.defaults.items():
            if field not in self.family.keys:
                fields[field] = value
        fields |= self.family.always
        if self.outer is not None:
            self._tied_outside(fields)
        if self.family.finish is not None and all(fields.get(field) for field in NEEDED):
            changes = self.family.finish(self.config, fields)
            self.finished.update(field for field in changes if changes[field] != fields.get(field))
            fields |= changes
        return _without_idle(fields)

    def _field(self, field: str, spellings: tuple[str, ...]) -> dict[str, Any]:
        data, default = self.config.data, self.family.defaults
        there = [key for key in spellings if key in data]
        key = next((key for key in there if data[key] is not None), None)
        flag = isinstance(KINDS[field].default, bool)
        if key is not None:
            self.found[field] = key
            return {field: self.config.flag(key) if flag else self._count(key)}
        if field in default and (flag or not there):  # a null is no count; a class has no default for it then
            self.silent[field] = default[field]
            return {field: default[field]}
        return {}

    def _count(self, key: str) -> int:
        value = self.config.data[key]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.config.wrong(key, f"expected a whole number, got {short(value)}")
        if not isinstance(value, int) and (not isfinite(value) or value != int(value)):
            raise self.config.wrong(key, f"expected a whole number, got {value!r}")
        if value < 0:
            raise self.config.wrong(key, f"must be at least 0, got {short(value)}")
        if value > EXACT:
            raise self.config.wrong(key, "is above 2^53, more than any model has of anything")
        return int(value)

    def _missing(self, fields: Mapping[str, Any], problems: list[Problem]) -> Iterator[Problem]:
        told = {problem.field for problem in problems}
        for field in NEEDED:
            key = self._key(field)
            if field not in fields and self.config.at(key) not in told:
                yield self._required(key)

    def _required(self, key: str) -> Problem:
        close = near(key, (name for name in self.config.data if len(name) <= 60 and name != key), count=1)
        meant = f"; the file has {close[0]!r}" if close else ""
        return Problem(self.config.at(key), f"is required{meant}")

    def _key(self, field: str) -> str:
        return self.found.get(field) or self.family.keys.get(field, (field,))[0]

    def _tied_outside(self, fields: dict[str, Any]) -> None:
        """Whatever holds the language model says whether the head is tied, as its class has the head."""
        assert self.outer is not None
        family, config = self.outer
        (key,) = family.keys.get("tied", ("tie_word_embeddings",))
        if config.data.get(key) is not None:
            fields["tied"] = config.flag(key)
        elif "tied" not in self.found and "tied" in family.defaults:
            fields["tied"] = self.silent["tied"] = family.defaults["tied"]

    def by_key(self, error: InvalidInput) -> Iterator[Problem]:
        """Yield the problems of an architecture by the keys of the file."""
        for problem in error.problems:
            field = problem.field.rpartition(".")[2]
            key = self._key(field)
            if problem.message == "is required":
                yield self._required(key)
            else:
                silent = f"; it is not in the file, and {self.family.source} has it so" if field in self.silent else ""
                where = self.config.at(key) if field in self.family.keys else f"{self.family.name}: {field}"
                yield attrs.evolve(problem, field=where, message=f"{problem.message}{silent}")

    def sources(self, fields: Mapping[str, Any]) -> dict[str, str]:
        """Return where each field is from."""
        told: dict[str, str] = {}
        for field in fields:
            if field in self.found and field not in self.finished:
                key = self.found[field]
                told[field] = f"{self.document.origin(self.config.at(key))}, {key}"
            elif field in self.silent or field in self.family.always or field in self.family.defaults:
                told[field] = self.family.source
        return told

    def notes(self, shape: Architecture) -> Iterator[str]:
        """Yield what is taken for granted, and what is left out."""
        silent = {f: v for f, v in self.silent.items() if getattr(shape, f) == v != KINDS[f].default}
        if silent:
            told = ", ".join(f"{self._key(field)} {str(value).lower()}" for field, value in silent.items())
            yield f"not in the file, so as in {self.family.source}: {told}"
        for family, config in (*([self.outer] if self.outer else []), (self.family, self.config)):
            for key, what in family.left_out.items():
                if config.data.get(key):
                    yield f"not counted: {what} ({config.at(key)})"


def _without_idle(fields: dict[str, Any]) -> dict[str, Any]:
    """Drop what says something of experts where there are none, and of dense layers where all have experts."""
    if not fields.get("experts"):
        return {f: v for f, v in fields.items() if f not in (*WITH_EXPERTS, *EXPERT_FLAGS)}
    if not fields.get("dense_layers") and fields.get("expert_every", 1) == 1:
        return {**fields, "ffn": 0}
    return fields
