"""Tenants: a component may bring a role of its own, which takes over what another role would do by itself.

A rollout engine is one: it has a copy of the policy's weights, a process, a layout and a pool of its own, and generates
instead of the policy. The algorithm stays as it is written, whoever wrote it; its table is completed by the tenant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from alignsim.algorithm import Activity, Algorithm
from alignsim.errors import CompositionError, Problem
from alignsim.frozen import FrozenDict, frozen
from alignsim.layout import Place

if TYPE_CHECKING:
    from alignsim.component import Component


@attrs.frozen(kw_only=True)
class Tenant:
    """A role that a component brings.

    Attributes:
        role: how the table calls it.
        takes: the activity that it takes over.
        meanwhile: what the role that it takes it from does then.
        otherwise: what it does in all other phases.
        sync: a phase before the first of those that it takes over, in which weights are handed over; empty for none.
        syncs: what it does in that phase; the other role does ``sync``.
        process: the process that it lives in, unless a run says otherwise.
        components: its own fillings of slots, unless a run says otherwise for it.
    """

    role: str
    takes: str = "generate"
    meanwhile: str | Activity = "idle"
    otherwise: str | Activity = "asleep"
    sync: str = "sync"
    syncs: str | Activity = "sync"
    process: str
    components: Mapping[str, Component] = attrs.field(factory=FrozenDict, converter=frozen)

    @property
    def place(self) -> Place:
        """Where it lives, unless a run says otherwise."""
        return Place(self.process)

    def joined(self, algorithm: Algorithm, role: str) -> Algorithm:
        """Return an algorithm in which this tenant takes over from ``role``.

        Raises:
            CompositionError: the algorithm has a role or a phase of these names already.
        """
        for kind, name, known in (("role", self.role, algorithm.roles), ("phase", self.sync, algorithm.phases)):
            if name in known:
                message = f"algorithm {algorithm.name} has a {kind} {name!r} already, which a tenant would bring"
                raise CompositionError(Problem(f"{role}.{self.role}", message))
        phases = dict(self._phases(algorithm, role))
        order = {phase: events for phase, events in algorithm.order.items() if not self._takes(algorithm, phase, role)}
        model_of = {**algorithm.model_of, self.role: role}
        return attrs.evolve(algorithm, phases=phases, order=order, model_of=model_of)

    def _takes(self, algorithm: Algorithm, phase: str, role: str) -> bool:
        return self.takes in algorithm.activity(phase, role).kinds

    def _phases(self, algorithm: Algorithm, role: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        handed_over = not self.sync
        for phase, row in algorithm.phases.items():
            if not self._takes(algorithm, phase, role):
                yield phase, {**row, self.role: self.otherwise}
                continue
            if not handed_over:
                away = {other: algorithm.activity(phase, other) for other in row if other != role}
                yield self.sync, {role: "sync", self.role: self.syncs, **_quiet(away)}
                handed_over = True
            yield phase, {**row, role: self.meanwhile, self.role: row[role]}


def _quiet(row: Mapping[str, Activity]) -> dict[str, str]:
    """What other roles do while weights are handed over: they are away if they are in the phase that follows."""
    return {role: "idle" if activity.resident else "offloaded" for role, activity in row.items()}
