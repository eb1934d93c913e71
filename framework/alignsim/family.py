"""A family of models: how the ``config.json`` of one ``model_type`` is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from alignsim.architecture import Architecture
from alignsim.errors import InvalidInput, Problem, suggestion
from alignsim.fields import Fields
from alignsim.frozen import FrozenDict, frozen

FIELDS = frozenset(field.name for field in attrs.fields(Architecture)) - {"name", "aliases", "recorded", "sources"}
Finish = Callable[[Fields, Mapping[str, Any]], Mapping[str, Any]]


def _spellings(keys: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
    return frozen({field: (key,) if isinstance(key, str) else tuple(key) for field, key in keys.items()})


@attrs.frozen(kw_only=True)
class Family:
    """How a configuration file of one kind of model is read. What it says of a model is an ``Architecture``.

    Attributes:
        name: the ``model_type`` that such files state.
        aliases: other values of ``model_type`` that mean the same.
        keys: a field of ``Architecture``, and the key that says it in a file; of several keys, the first that is there.
        defaults: a field, and what it is where a file is silent: the default of the class that reads such files.
        always: a field, and what it is whatever a file says, as the modelling code has it built in.
        finish: is given the file and the fields read so far, and returns fields to change: what one key alone does not
            say. It raises :class:`InvalidInput` for a file whose model has no such shape.
        inside: the key of the object that describes the language model, where the file is about more than that.
        language: the family of that object, where it does not say so itself.
        left_out: a key, and what is not counted where a file has it.
        refused: why no model of this family can be described, if so.
        source: the code that the above is from, with its version.

    Raises:
        InvalidInput: a field that an architecture does not have.
    """

    name: str
    aliases: tuple[str, ...] = ()
    keys: Mapping[str, tuple[str, ...]] = attrs.field(factory=FrozenDict, converter=_spellings)
    defaults: Mapping[str, Any] = attrs.field(factory=FrozenDict, converter=frozen)
    always: Mapping[str, Any] = attrs.field(factory=FrozenDict, converter=frozen)
    finish: Finish | None = None
    inside: str = ""
    language: str = ""
    left_out: Mapping[str, str] = attrs.field(factory=FrozenDict, converter=frozen)
    refused: str = ""
    source: str = ""

    def __attrs_post_init__(self) -> None:
        problems = [
            Problem(f"family {self.name}: {where}", f"an architecture has no {field!r}; {suggestion(field, FIELDS)}")
            for where in ("keys", "defaults", "always")
            for field in getattr(self, where)
            if field not in FIELDS
        ]
        if problems:
            raise InvalidInput(problems)
