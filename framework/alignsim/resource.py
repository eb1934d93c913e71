"""A resource is something that terms take up: tensors, a device's memory, a host's, later seconds and joules.

A resource says how what is live adds up. The core knows none by name: resources come from plugins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import attrs

from alignsim.errors import CompositionError, Problem, suggestion

if TYPE_CHECKING:
    from alignsim.term import Term

OVER = ("max", "sum")


def _reduction(_: object, field: attrs.Attribute[str], value: str) -> None:
    if value not in OVER:
        raise CompositionError(Problem(f"Resource.{field.name}", f"no reduction {value!r}; {suggestion(value, OVER)}"))


@attrs.frozen(kw_only=True)
class Resource:
    """What terms with ``resource=name`` are added up into.

    At one event, what is live is summed. Pools of devices are kept apart. A resource may rest on another: what that one
    adds up to at an instant is then a part of it, as reserved memory rests on what tensors take.

    Attributes:
        name: what terms call it; the totals have this name too.
        unit: the unit of its totals, e.g. ``byte``.
        over_events: ``max`` for what is held (memory), ``sum`` over one steady lap for what is spent (seconds).
        over_stages: ``max`` over the kinds of rank, or ``sum``.
        about: one line for people.
        includes: the resource that it rests on.
        kept: each process keeps the most of that one that it has taken since it last gave back what it did not need
            (see :mod:`alignsim.keeping`), instead of what it takes at the instant.
        overhead: a formula of what a process keeps, its parameter ``kept``; what it gives is added.
        capacity: names of numbers of a pool; a verdict holds it against the first of them that is known.
    """

    name: str
    unit: str
    over_events: str = attrs.field(default="max", validator=_reduction)
    over_stages: str = attrs.field(default="max", validator=_reduction)
    about: str = ""
    includes: str | None = None
    kept: bool = False
    overhead: Term | None = None
    capacity: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        if self.includes is None and (self.kept or self.overhead):
            raise CompositionError(Problem(f"resource {self.name}", "keeps something, but includes no other resource"))
        if self.overhead is not None and (not self.kept or "kept" not in self.overhead.formula.parameters):
            message = "has an overhead on what is kept: say kept=True, and give the formula a parameter 'kept'"
            raise CompositionError(Problem(f"resource {self.name}", message))


def foundations(resources: Mapping[str, Resource]) -> tuple[Resource, ...]:
    """Return the resources in the order of their names, each after the one that it rests on.

    Raises:
        CompositionError: one rests on what is not there, or on itself.
    """
    ordered: dict[str, Resource] = {}
    for name in sorted(resources):
        for below in reversed(list(resting(resources, name))):
            ordered.setdefault(below.name, below)
    return tuple(ordered.values())


def resting(resources: Mapping[str, Resource], name: str) -> Iterator[Resource]:
    """Yield a resource, the one that it rests on, and so on.

    Raises:
        CompositionError: one rests on what is not there, or on itself.
    """
    seen: set[str] = set()
    while True:
        resource = resources[name]
        yield resource
        seen.add(name)
        if resource.includes is None:
            return
        if resource.includes in seen or resource.includes not in resources:
            why = "itself" if resource.includes in seen else f"no resource; {suggestion(resource.includes, resources)}"
            raise CompositionError(Problem(f"resource {name}", f"includes {resource.includes!r}, which is {why}"))
        name = resource.includes
