"""An algorithm is a table: phases down, roles across, and in each field what the role does in that phase."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from alignsim.errors import CompositionError, Problem, suggestion
from alignsim.frozen import FrozenDict, frozen
from alignsim.given import Given


@attrs.frozen
class Activity:
    """What a role does in a phase, as a row of moments.

    Attributes:
        name: how tables call it.
        moments: the instants it passes through, in order.
        like: the built-in activity whose terms apply to it as well.
        resident: whether the role's memory is on its device meanwhile.
    """

    name: str
    moments: tuple[str, ...] = ()
    like: str | None = None
    resident: bool = True

    @property
    def kinds(self) -> frozenset[str]:
        """The names under which terms may ask for it."""
        return frozenset({self.name} | ({self.like} if self.like else set()))


TRAIN = Activity(
    "train",
    (
        "forward_layers",
        "forward_head",
        "loss",
        "backward_loss",
        "backward_head",
        "backward_last_layer",
        "backward_first_layer",
        "backward_end",
        "optimizer_step",
    ),
)
INFER = Activity("infer", ("forward_layers", "forward_head", "loss"))
GENERATE = Activity("generate", ("prefill", "decode"))
SYNC = Activity("sync", ("sync",))
IDLE = Activity("idle", ("idle",))
ASLEEP = Activity("asleep", ("asleep",), resident=False)
OFFLOADED = Activity("offloaded", ("offloaded",), resident=False)
ACTIVITIES: Mapping[str, Activity] = frozen(
    {a.name: a for a in (TRAIN, INFER, GENERATE, SYNC, IDLE, ASLEEP, OFFLOADED)}
)

AWAY = frozenset({"idle", "asleep", "offloaded"})
"""Activities that have no place of their own in the order of a phase."""

INIT = "init"


def _completed(activity: Activity) -> Activity:
    """Let an activity that is like another have its moments, unless it has its own, and be where that is."""
    if activity.like is None:
        return activity
    model = ACTIVITIES[activity.like]
    moments = activity.moments or model.moments
    return attrs.evolve(activity, moments=moments, resident=activity.resident and model.resident)


def _table(phases: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Activity]]:
    problems = []
    table: dict[str, Mapping[str, Activity]] = {}
    for phase, roles in phases.items():
        row: dict[str, Activity] = {}
        for role, activity in roles.items():
            found = activity if isinstance(activity, Activity) else ACTIVITIES.get(str(activity))
            if found is None:
                problems.append(
                    Problem(f"{phase}.{role}", f"no activity {activity!r}; {suggestion(str(activity), ACTIVITIES)}")
                )
            elif found.like is not None and found.like not in ACTIVITIES:
                problems.append(
                    Problem(
                        f"{phase}.{role}",
                        f"no activity {found.like!r} to be like; {suggestion(found.like, ACTIVITIES)}",
                    )
                )
            else:
                row[role] = _completed(found)
        table[phase] = frozen(row)
    if problems:
        raise CompositionError(problems)
    return frozen(table)


def _orders(order: Mapping[str, Iterable[str]]) -> Mapping[str, tuple[str, ...]]:
    return frozen({phase: tuple(events) for phase, events in order.items()})


def wanted(needs: Mapping[str, str | Iterable[str]]) -> Mapping[str, tuple[str, ...]]:
    """Return what is needed by place, each as several kinds of which any will do."""
    return frozen({place: (kinds,) if isinstance(kinds, str) else tuple(kinds) for place, kinds in needs.items()})


def _names(roles: Iterable[str]) -> tuple[str, ...]:
    return tuple(roles)


@attrs.frozen(kw_only=True)
class Algorithm:
    """Who does what when.

    ``phases = {"score": {"reference": "infer"}, "update": {"policy": "train", "reference": "idle"}}``. A role that a
    row leaves out is idle in it.

    Attributes:
        name: how people call it.
        phases: phase -> role -> activity, in the order of the loop.
        order: phase -> its events as ``role.moment``, where they do not simply follow role by role.
        concurrent: groups of phases that run at the same time.
        model_of: role -> the role whose model it runs (a rollout engine runs the policy's).
        scalar_heads: roles whose model gives one number a token: critics, reward models.
        numbers: constants of its own, such as the rows that a sample takes.
        terms: terms of its own.
        needs: the kinds of filling that a role works with, any of which will do, by ``role.slot``.
        source: the paper or the code it follows.

    Raises:
        CompositionError: unknown activities, phases, roles or moments; every one is listed.
    """

    name: str
    phases: Mapping[str, Mapping[str, Activity]] = attrs.field(converter=_table)
    order: Mapping[str, tuple[str, ...]] = attrs.field(factory=FrozenDict, converter=_orders)
    concurrent: tuple[tuple[str, ...], ...] = ()
    model_of: Mapping[str, str] = attrs.field(factory=FrozenDict, converter=frozen)
    scalar_heads: tuple[str, ...] = attrs.field(default=(), converter=_names)
    numbers: Mapping[str, Given] = attrs.field(factory=FrozenDict, converter=frozen)
    terms: tuple[Any, ...] = ()
    needs: Mapping[str, tuple[str, ...]] = attrs.field(factory=FrozenDict, converter=wanted)
    source: str = ""

    def __attrs_post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise CompositionError([attrs.evolve(p, field=f"algorithm {self.name}: {p.field}") for p in problems])

    def _problems(self) -> Iterable[Problem]:
        if not self.roles:
            yield Problem("phases", "no role does anything")
        for name in (*self.phases, *self.roles):
            if not name.isidentifier():
                yield Problem(name, "phases and roles are spelt as identifiers: letters, digits and _")
        if INIT in self.phases:
            yield Problem(INIT, "is the name of the loading before the first phase; call the phase something else")
        for phase, events in self.order.items():
            if phase not in self.phases:
                yield Problem(f"order[{phase!r}]", f"no such phase; {suggestion(phase, self.phases)}")
                continue
            have = {f"{role}.{moment}" for role in self.roles for moment in self.activity(phase, role).moments}
            for event in events:
                if event not in have:
                    yield Problem(f"order[{phase!r}]", f"no event {event!r}; {suggestion(event, have)}")
            busy = [role for role in self.roles if not self.activity(phase, role).kinds & AWAY]
            stated = {f"{role}.{moment}" for role in busy for moment in self.activity(phase, role).moments}
            for event in sorted(stated - set(events)):
                yield Problem(f"order[{phase!r}]", f"leaves out {event!r}")
            for event in sorted({e for e in events if list(events).count(e) > 1}):
                yield Problem(f"order[{phase!r}]", f"has {event!r} twice; an instant has one place in its phase")
        for phase in (p for group in self.concurrent for p in group):
            if phase not in self.phases:
                yield Problem("concurrent", f"no phase {phase!r}; {suggestion(phase, self.phases)}")
        for role in {*self.model_of, *self.model_of.values()}:
            if role not in self.roles:
                yield Problem("model_of", f"no role {role!r}; {suggestion(role, self.roles)}")
        for place in self.needs:
            role, dot, slot = place.partition(".")
            if not (dot and slot.isidentifier()):
                yield Problem(f"needs[{place!r}]", "is spelt role.slot, such as 'policy.loss'")
            elif role not in self.roles:
                yield Problem(f"needs[{place!r}]", f"no role {role!r}; {suggestion(role, self.roles)}")
        for role in self.scalar_heads:
            if role not in self.roles:
                yield Problem("scalar_heads", f"no role {role!r}; {suggestion(role, self.roles)}")

    @property
    def roles(self) -> tuple[str, ...]:
        """All roles, in the order in which the table first names them."""
        return tuple(dict.fromkeys(role for row in self.phases.values() for role in row))

    def activity(self, phase: str, role: str) -> Activity:
        """Return what a role does in a phase."""
        return self.phases[phase].get(role, IDLE)

    def activities(self, role: str) -> frozenset[str]:
        """Return the names of all that a role ever does."""
        return frozenset(kind for phase in self.phases for kind in self.activity(phase, role).kinds)
