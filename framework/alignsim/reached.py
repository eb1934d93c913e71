"""The instant at which a total was reached, where it is the same at several: the one at which most was taken."""

from __future__ import annotations

import re
from collections.abc import Iterator

from alignsim.graph import TermGraph
from alignsim.pool_totals import named_order
from alignsim.resource import resting


def taken_apart(path: str) -> tuple[str, str, str]:
    """Return the event of a total's path, what is between (pool, process, kind of rank), and the resource.

    >>> taken_apart("update:policy/loss@gpus[first].allocated")
    ('update:policy/loss', '@gpus[first]', 'allocated')
    """
    where, _, name = path.rpartition(".")
    event = re.split(r"[@%\[]", where, maxsplit=1)[0]
    return event, where.removeprefix(event), name


def instants(graph: TermGraph, path: str) -> Iterator[tuple[str, str | None]]:
    """Yield the total at every event, and that of the resource at the bottom, None for nothing; steady events first.

    There are none where the total rests on no other resource: then its own name says when it was reached.
    """
    event, where, name = taken_apart(path)
    resources = graph.parts.resources
    *above, root = (r.name for r in resting(resources, name)) if name in resources else ("",)
    if above and "/" in event:
        for other in named_order(graph.parts.schedule):
            total, below = (f"{other}{where}.{resource}" for resource in (name, root))
            if _known(graph, total):
                yield total, below if _known(graph, below) else None


def _known(graph: TermGraph, path: str) -> bool:
    return path in graph.nodes or path in graph.aliases
