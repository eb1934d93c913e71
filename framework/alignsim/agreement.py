"""What a file states beside a run: totals that nothing is computed from, and that must agree with the run's parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from alignsim.errors import Problem, suggestion
from alignsim.layout import Layout, Place
from alignsim.scenario import Scenario

TRAIN = "train"
DEGREES = ("tensor", "pipeline", "context", "sequence", "data")


def gpus(run: Scenario, stated: int | Mapping[str, int]) -> Iterator[Problem]:
    """Yield where the devices that are stated, in all or pool by pool, are not those of the layouts.

    The largest layout of a pool has all its devices; the others have as many, or a part of them that divides them.
    """
    layouts: dict[str, dict[str, Layout]] = {}
    for role in run.played.roles:
        pool = run.housed.get(role, Place()).pool
        layouts.setdefault(pool, {})[role] = run.layouts.get(role, run.layout)
    counts = stated if isinstance(stated, Mapping) else dict.fromkeys(layouts, stated)
    if counts is not stated and len(layouts) > 1:
        yield Problem("gpus", f"is one count for several pools; state one for each of {', '.join(layouts)}")
        return
    for pool, count in counts.items():
        place = "gpus" if counts is not stated else f"gpus.{pool}"
        if pool not in layouts:
            yield Problem(place, f"no role is in such a pool; {suggestion(pool, layouts)}")
            continue
        role, largest = max(layouts[pool].items(), key=lambda item: item[1].devices)
        if largest.devices != count:
            yield Problem(place, f"states {count}, but the layout of {role!r} has {_spelt(largest)} devices")
            continue
        for role, layout in layouts[pool].items():
            if count % layout.devices:
                yield Problem(place, f"{count} is no multiple of the {_spelt(layout)} devices of {role!r}")


def global_batch(run: Scenario, stated: int) -> Iterator[Problem]:
    """Yield where the samples of one step of the optimizer are not those of the batch on all replicas."""
    micro, steps = run.settled.batch.micro_batch, run.settled.batch.accumulation_steps
    if micro is None:
        yield Problem("global_batch", "is stated, but no batch.micro_batch is that it could be made of")
        return
    for role in run.played.roles:
        data = run.layouts.get(role, run.layout).data
        if TRAIN not in run.played.activities(role) or micro * steps * data == stated:
            continue
        told = f"micro_batch {micro} x accumulation_steps {steps} x data {data} = {micro * steps * data} of {role!r}"
        right, rest = divmod(stated, micro * data)
        hint = f"{stated} is no multiple of {micro} x {data}" if rest else f"accumulation_steps {right} would be right"
        yield Problem("global_batch", f"states {stated}, but there are {told}; {hint}")


def _spelt(layout: Layout) -> str:
    return f"{' x '.join(f'{name} {getattr(layout, name)}' for name in DEGREES)} = {layout.devices}"
