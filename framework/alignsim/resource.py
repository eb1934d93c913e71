"""A resource is something that terms take up: device memory, host memory, later seconds and joules.

A resource says how what is live adds up. The core knows none by name: resources come from plugins.
"""

from __future__ import annotations

import attrs

from alignsim.errors import CompositionError, Problem, suggestion

OVER = ("max", "sum")


def _reduction(_: object, field: attrs.Attribute[str], value: str) -> None:
    if value not in OVER:
        raise CompositionError(Problem(f"Resource.{field.name}", f"no reduction {value!r}; {suggestion(value, OVER)}"))


@attrs.frozen(kw_only=True)
class Resource:
    """What terms with ``resource=name`` are added up into.

    At one event, what is live is summed. Pools of devices are kept apart.

    Attributes:
        name: what terms call it; the totals have this name too.
        unit: the unit of its totals, e.g. ``byte``.
        over_events: ``max`` for what is held (memory), ``sum`` over one steady lap for what is spent (seconds).
        over_stages: ``max`` over the kinds of rank, or ``sum``.
        about: one line for people.
    """

    name: str
    unit: str
    over_events: str = attrs.field(default="max", validator=_reduction)
    over_stages: str = attrs.field(default="max", validator=_reduction)
    about: str = ""
