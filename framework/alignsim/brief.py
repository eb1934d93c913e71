"""What stands for an object in a notebook: what was said of it, and names for what has one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from alignsim.units import human


def brief(value: Any) -> str:
    """Return an object in a few words.

    >>> from alignsim import Batch, Layout
    >>> brief({"batch": Batch(micro_batch=4), "layout": Layout(data=8)})
    "{'batch': Batch(micro_batch=4), 'layout': Layout(data=8)}"
    """
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {brief(inside)}' for key, inside in value.items())}}}"
    if hasattr(value, "value") and hasattr(value, "unit"):
        return repr(human(value.value, value.unit)) if value.unit else f"{value.value:g}"
    if hasattr(value, "name"):
        return repr(value.name)
    return fields(value) if attrs.has(type(value)) else repr(value)


def fields(value: Any) -> str:
    """Return an object by those of its fields that are not as they are by default.

    >>> from alignsim import Layout
    >>> fields(Layout(tensor=2, data=4))
    'Layout(tensor=2, data=4)'
    """
    told = [
        f"{field.name}={brief(inside)}"
        for field in attrs.fields(type(value))
        if field.init and field.repr and not _is_default(field, inside := getattr(value, field.name))
    ]
    return f"{type(value).__name__}({', '.join(told)})"


def _is_default(field: Any, value: Any) -> bool:
    default = field.default
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return not default.takes_self and bool(value == default.factory())
    return bool(default is not attrs.NOTHING and value == default)
