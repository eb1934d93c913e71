"""The fields of a run file as a JSON Schema (draft 7, which editors know), from the classes and a registry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import attrs

from alignsim.architecture import HEADS, Architecture
from alignsim.batch import Batch
from alignsim.given import Within
from alignsim.layout import Layout, Place
from alignsim.lengths import Lengths
from alignsim.registry import Registry
from alignsim.runfile import ENDS, FIELDS, NEEDED, plain_fields
from alignsim.scenario import EVERY, Scenario
from alignsim.views.docs import attribute_docs

DRAFT = "http://json-schema.org/draft-07/schema#"
TEXT: Mapping[str, Any] = {"type": "string"}
COUNT: Mapping[str, Any] = {"type": "integer", "minimum": 1}
STATED: Mapping[str, Any] = {
    "gpus": {
        "description": "the devices that the layout must come to, in all or for each pool.",
        "anyOf": [COUNT, {"type": "object", "additionalProperties": COUNT}],
    },
    "global_batch": {
        "description": "the samples of one step that the batch must come to, all replicas together.",
        **COUNT,
    },
}
AMOUNT: Mapping[str, Any] = {"type": ["number", "string"]}
PLAIN: Mapping[Any, Mapping[str, Any]] = {
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    float: {"type": "number"},
    str: TEXT,
    NoneType: {"type": "null"},
}


def schema(registry: Registry) -> dict[str, Any]:
    """Return the schema of a run file.

    The names that the registry's plugins offer are listed, so that editors complete them; any other text stays allowed,
    as it may be the path of a file, or a plugin's that is not here.
    """
    docs = attribute_docs(Scenario)
    return {
        "$schema": DRAFT,
        "title": "A run file of alignsim",
        "type": "object",
        "properties": {**{name: _told(docs[name], _field(name, registry)) for name in FIELDS}, **STATED},
        "required": list(NEEDED),
        "additionalProperties": False,
        "definitions": {kind.__name__: _described(kind) for kind in (Architecture, Batch, Layout, Lengths, Place)},
    }


def _field(name: str, registry: Registry) -> dict[str, Any]:
    models = _either(_names(registry.architectures), _is(Architecture))
    devices = _names(registry.accelerators)
    fields: Mapping[str, dict[str, Any]] = {
        "name": dict(TEXT),
        "preset": _names(registry.presets),
        "algorithm": _names(registry.algorithms),
        "models": _each(models),
        "accelerator": _either(devices, _each(devices)),
        "layout": _is(Layout),
        "layouts": _each(_is(Layout)),
        "batch": _is(Batch),
        "lengths": _is(Lengths),
        "components": _components(registry),
        "givens": _each(_either(AMOUNT, _number())),
        "places": _each(_is(Place)),
        "resource": _names(registry.resources),
        "solver": _names(registry.solvers),
    }
    return fields[name]


def _components(registry: Registry) -> dict[str, Any]:
    """One field for each slot, and one for that slot of any role."""
    slots = {
        name: _told(slot.about, _names([*registry.fillings(name), slot.none.name]))
        for name, slot in sorted(registry.slots.items())
    }
    return {
        "type": "object",
        "properties": {EVERY: {"const": "none"}, **slots},
        "patternProperties": {rf"^[^.]+\.{name}$": filling for name, filling in slots.items()},
        "additionalProperties": False,
    }


def _number() -> dict[str, Any]:
    """A number with its range and where it is from."""
    return {
        "type": "object",
        "properties": {**dict.fromkeys(("value", *ENDS), AMOUNT), "source": TEXT},
        "required": ["value"],
        "additionalProperties": False,
    }


def _described(kind: type[Any]) -> dict[str, Any]:
    """The fields of an attrs class as they are written in a file."""
    hints, docs = get_type_hints(kind), attribute_docs(kind)
    fields = {name: getattr(attrs.fields(kind), name) for name in plain_fields(kind)}
    return {
        "type": "object",
        "properties": {n: _told(docs.get(n, ""), _value(field, hints[n])) for n, field in fields.items()},
        "required": [name for name, field in fields.items() if field.default is attrs.NOTHING],
        "additionalProperties": False,
    }


def _value(field: attrs.Attribute[Any], hint: Any) -> dict[str, Any]:
    if field.name == "head":
        return {"enum": list(HEADS), "default": field.default}
    found = _of(hint)
    if field.default is None and "null" not in str(found):
        found = _either(found, {"type": "null"})
    if isinstance(field.default, str | int | float):
        found["default"] = field.default
    for limit in field.validator.limits if isinstance(field.validator, Within) else ():
        found |= {"minimum": limit.least} if isinstance(limit.least, int | float) else {}
        found |= {"maximum": limit.most} if isinstance(limit.most, int | float) else {}
    return found


def _of(hint: Any) -> dict[str, Any]:
    """What a type hint lets be written."""
    if hint in PLAIN:
        return dict(PLAIN[hint])
    inside = get_args(hint)
    if get_origin(hint) in (UnionType, Union):
        return _either(*map(_of, inside))
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _of(inside[0])}
    return _each(_of(inside[-1]))


def _names(known: Iterable[str]) -> dict[str, Any]:
    return _either({"enum": sorted(known)}, dict(TEXT))


def _is(kind: type[Any]) -> dict[str, Any]:
    return {"$ref": f"#/definitions/{kind.__name__}"}


def _each(value: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": dict(value)}


def _either(*values: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [dict(value) for value in values]}


def _told(about: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """With what it is: beside a reference it would not be read, hence around it."""
    if not about:
        return dict(value)
    return {"description": about, **({"allOf": [dict(value)]} if "$ref" in value else value)}
