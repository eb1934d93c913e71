"""Descriptions as plain data for JSON: what a class has, under the names of its fields, in base units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from alignsim.errors import Origin
from alignsim.given import Given


def plain(value: Any) -> Any:
    """Return dicts, lists, texts and numbers only; objects that have a name, but are no data, become that name."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Given):
        return {
            "value": value.value,
            "unit": value.unit,
            "low": value.at("low"),
            "high": value.at("high"),
            "source": value.source,
            "obtained": value.obtained,
            "origin": plain(value.origin),
        }
    if isinstance(value, Origin):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    return getattr(value, "name", None) or str(value)


def described(item: Any, *leave_out: str) -> dict[str, Any]:
    """Return the public fields of an attrs object, except those that are left out."""
    fields = (field.name for field in attrs.fields(type(item)))
    return {name: plain(getattr(item, name)) for name in fields if name[0] != "_" and name not in leave_out}
