"""What is wrong with the fields of a run together: roles that nobody has, missing models, layouts beyond them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from alignsim.architecture import Architecture
from alignsim.errors import Problem, suggestion
from alignsim.layout import Place
from alignsim.preset import names_of

if TYPE_CHECKING:
    from alignsim.scenario import Scenario


def incoherent(run: Scenario) -> Iterator[Problem]:
    """Yield what is wrong with the fields together."""
    if run.preset is not None:
        wrong = list(run.preset.problems(run.algorithm.name, names_of(run.components)))
        yield from wrong
        if wrong:
            return
    yield from run.lengths.beyond(run.settled.batch)
    for field in ("models", "layouts", "places"):
        for role in getattr(run, field):
            if role not in run.played.roles:
                yield Problem(
                    f"{field}[{role!r}]",
                    f"algorithm {run.played.name} has no such role; {suggestion(role, run.played.roles)}",
                )
    named: dict[str, tuple[str, Architecture]] = {}
    for role in run.played.roles:
        model = run.model(role)
        if model is None:
            yield Problem(f"models[{role!r}]", f"role {role!r} needs a model")
            continue
        yield from _beyond(run, role, model)
        other, known = named.setdefault(model.name, (role, model))
        if known != model:
            message = f"is another model than that of {other!r}, but has the same name {model.name!r}"
            yield Problem(f"models[{role!r}]", f"{message}; rename one of them")
    pools = {run.housed.get(role, Place()).pool for role in run.played.roles}
    for pool in set(run.accelerator) - pools if isinstance(run.accelerator, Mapping) else ():
        yield Problem(f"accelerator[{pool!r}]", f"no role is in such a pool; {suggestion(pool, pools)}")
    for key in run.components:
        role = key.rpartition(".")[0]
        if role and role not in run.played.roles:
            yield Problem(
                f"components[{key!r}]",
                f"algorithm {run.played.name} has no role {role!r}; {suggestion(role, run.played.roles)}",
            )


def _beyond(run: Scenario, role: str, model: Architecture) -> Iterator[Problem]:
    """Yield the degrees that a model cannot be spread over."""
    place = f"layouts[{role!r}]" if role in run.layouts else "layout"
    layout = run.layouts.get(role, run.layout)
    for degree, most, of in (("tensor", model.heads, "heads"), ("pipeline", model.layers, "layers")):
        got = getattr(layout, degree)
        if got > most:
            message = f"must be at most {most}, the {of} of {model.name} for role {role!r}; got {got}"
            yield Problem(f"{place}.{degree}", message)
    if layout.tensor < model.heads and model.heads % layout.tensor:
        message = f"must divide the {model.heads} heads of {model.name} for role {role!r}; got {layout.tensor}"
        yield Problem(f"{place}.tensor", message)
