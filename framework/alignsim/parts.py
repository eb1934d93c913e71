"""What a graph is composed of: an algorithm, terms, fillings of slots, places and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import attrs

from alignsim.algorithm import Algorithm
from alignsim.component import Component, Slot, Stage
from alignsim.errors import CompositionError, Problem, suggestion
from alignsim.given import Given
from alignsim.layout import Place
from alignsim.resource import Resource
from alignsim.schedule import Schedule
from alignsim.scope import Scope, parse
from alignsim.term import Term

_USUAL = Place()
MODEL_OF = "model_of."
"""What is needed of the role whose model another one runs, as components spell it."""


@attrs.frozen(kw_only=True)
class Parts:
    """Everything that goes into one graph, none of it composed yet.

    Attributes:
        algorithm: who does what when.
        terms: terms for every role.
        components: role -> slot name -> filling.
        slots: the slots in force; a required one that is unfilled is an error.
        models: role -> name of its model.
        places: role -> process and pool.
        resources: by name.
        facts: numbers by path that descriptions bring (shapes, devices, layouts); those that nobody reads are fine.
        givens: numbers by path that somebody set on purpose; one that nobody reads is an error.
    """

    algorithm: Algorithm
    terms: tuple[Term, ...] = ()
    components: Mapping[str, Mapping[str, Component]] = attrs.field(factory=dict)
    slots: Mapping[str, Slot] = attrs.field(factory=dict)
    models: Mapping[str, str] = attrs.field(factory=dict)
    places: Mapping[str, Place] = attrs.field(factory=dict)
    resources: Mapping[str, Resource] = attrs.field(factory=dict)
    facts: Mapping[str, Given] = attrs.field(factory=dict)
    givens: Mapping[str, Given] = attrs.field(factory=dict)

    @cached_property
    def schedule(self) -> Schedule:
        """The events of the algorithm."""
        return Schedule.of(self.algorithm)

    def place(self, role: str) -> Place:
        """Return where a role lives."""
        return self.places.get(role, _USUAL)

    @cached_property
    def pools(self) -> tuple[str, ...]:
        """The pools of devices, in the order of their first role."""
        return tuple(dict.fromkeys(self.place(role).pool for role in self.algorithm.roles))

    def stages(self, pool: str) -> tuple[Stage, ...]:
        """Return the kinds of rank that the engines of a pool tell apart; empty if none does."""
        found: dict[str, Stage] = {}
        for role in self.algorithm.roles:
            if self.place(role).pool == pool:
                for component in self.components.get(role, {}).values():
                    for stage in component.stages:
                        found.setdefault(stage.name, stage)
        return tuple(found.values())

    def slot_of(self, term: Term, role: str) -> str | None:
        """Return the slot whose filling brings a role's term; None if no component does."""
        return self._slots.get((role, id(term)))

    @cached_property
    def _slots(self) -> Mapping[tuple[str, int], str]:
        return {
            (role, id(term)): name
            for role, fillings in self.components.items()
            for name, component in fillings.items()
            for term in component.terms
        }

    def scope(self, *, phase: str | None = None, role: str | None = None, stage: str | None = None) -> Scope:
        """Return a scope with what a role leads to filled in."""
        if role is None:
            return Scope(phase=phase, stage=stage)
        place = self.place(role)
        return Scope(phase, role, stage, self.models.get(role), place.process, place.pool)

    @cached_property
    def _scopes(self) -> Mapping[str, Scope]:
        return {role: self.scope(role=role) for role in self.algorithm.roles}

    @cached_property
    def _doing(self) -> Mapping[str, frozenset[str]]:
        return {role: self.algorithm.activities(role) for role in self.algorithm.roles}

    def scopes(self, term: Term, roles: Iterable[str]) -> Iterator[tuple[str, Scope]]:
        """Yield every place that a term has a value at, as the owner's spelling and the scope."""
        owners: list[tuple[str, Scope, str | None]] = []  # spelling, scope, pool
        kinds = term.per & {"role", "model", "process", "pool"}
        if len(kinds) > 1:
            raise CompositionError(
                Problem(term.name, f"is per {' and '.join(sorted(kinds))}; a term has one owner", term.origin)
            )
        roles = [r for r in roles if term.during is None or term.during & self._doing[r]]
        if "role" in kinds:
            owners = [(role, self._scopes[role], self.place(role).pool) for role in roles]
        elif "model" in kinds:
            names = dict.fromkeys(self.models[r] for r in roles if r in self.models)
            owners = [(f"{{{name}}}", Scope(model=name), None) for name in names]
        elif "process" in kinds:
            places = dict.fromkeys((self.place(r).process, self.place(r).pool) for r in roles)
            owners = [(f"%{process}", Scope(process=process, pool=pool), pool) for process, pool in places]
        elif "pool" in kinds:
            pools = dict.fromkeys(self.place(r).pool for r in roles)
            owners = [(f"@{pool}", Scope(pool=pool), pool) for pool in pools]
        elif roles:
            owners = [("", Scope(), None)]
        for owner, scope, pool in owners:
            for phase in self._phases(term, scope.role):
                for stage in self._stages(term, pool):
                    yield owner, attrs.evolve(scope, phase=phase, stage=stage) if phase or stage else scope

    def _phases(self, term: Term, role: str | None) -> Iterable[str | None]:
        if "phase" not in term.per:
            return (None,)
        if role is None or term.during is None:
            return self.algorithm.phases
        return [p for p in self.algorithm.phases if term.during & self.algorithm.activity(p, role).kinds]

    def _stages(self, term: Term, pool: str | None) -> Iterable[str | None]:
        if "stage" not in term.per:
            return (None,)
        pools = self.pools if pool is None else (pool,)
        return [stage.name for p in pools for stage in self.stages(p)] or (None,)

    def offers(self) -> Iterator[tuple[Term, tuple[str, ...]]]:
        """Yield every term with the roles it is for: components' own, then those for every role.

        A term that several components of a role bring is there once.
        """
        chosen: dict[int, tuple[Term, dict[str, None]]] = {}
        for role in self.algorithm.roles:
            for component in self.components.get(role, {}).values():
                for term in component.terms:
                    chosen.setdefault(id(term), (term, {}))[1][role] = None
        yield from ((term, tuple(roles)) for term, roles in chosen.values())
        yield from ((term, self.algorithm.roles) for term in dict.fromkeys(self.terms) if id(term) not in chosen)

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong before anything is composed: unfilled slots, unknown roles, misspelt paths."""
        roles = self.algorithm.roles
        for role in {*self.components, *self.models, *self.places} - set(roles):
            yield Problem(role, f"algorithm {self.algorithm.name} has no such role; {suggestion(role, roles)}")
        for slot in self.slots.values():
            for role in roles:
                doing = slot.required_for & self.algorithm.activities(role)
                if doing and slot.name not in self.components.get(role, {}):
                    yield Problem(
                        f"{role}.{slot.name}",
                        f"slot {slot.name!r} is unfilled for {role!r}, which does {', '.join(sorted(doing))}; "
                        "choose a component, or 'none'",
                    )
        for role, fillings in self.components.items():
            for component in fillings.values():
                for activity in sorted(set(component.never) & self.algorithm.activities(role)):
                    who = f"{component.slot.name} {component.name!r} is not for a role that does {activity!r}"
                    yield Problem(f"{role}.{component.slot.name}", f"{who}: {component.never[activity]}")
        yield from self._unsuited()
        processes: dict[str, str] = {}
        for role in roles:
            place = self.place(role)
            if processes.setdefault(place.process, place.pool) != place.pool:
                both = f"{processes[place.process]!r} and {place.pool!r}"
                yield Problem(f"{role}.process", f"process {place.process!r} cannot be on two pools, {both}")
        for path in self.givens:
            yield from self._misplaced(path)

    def _unsuited(self) -> Iterator[Problem]:
        """Yield fillings of another kind than the algorithm, or another filling, works with."""
        for place, kinds in self.algorithm.needs.items():
            role, _, slot = place.partition(".")
            yield from self._other_kind(f"algorithm {self.algorithm.name}", place, role, slot, kinds)
        for role, fillings in self.components.items():
            for component in fillings.values():
                who = f"{component.slot.name} {component.name!r}"
                for place, kinds in component.needs.items():
                    owner, slot = role, place
                    if place.startswith(MODEL_OF):
                        slot, owner = place.removeprefix(MODEL_OF), self.algorithm.model_of.get(role, role)
                        apart = self._apart(role, owner)
                        if apart:
                            yield Problem(f"{role}.{component.slot.name}", f"{who} has no weights of its own: {apart}")
                            continue
                    yield from self._other_kind(who, f"{role}.{component.slot.name}", owner, slot, kinds)

    def _other_kind(self, who: str, place: str, role: str, slot: str, kinds: Iterable[str]) -> Iterator[Problem]:
        filling = self.components.get(role, {}).get(slot)
        if filling is not None and filling.kinds and not filling.kinds.intersection(kinds):
            wanted, got = " or ".join(kinds), " and ".join(sorted(filling.kinds))
            yield Problem(place, f"{who} needs as {slot} of {role!r} {wanted}; {filling.name!r} is for {got}")

    def _apart(self, role: str, owner: str) -> str:
        """Why a role cannot run on another's weights; empty if it can."""
        if owner == role:
            return f"{role!r} runs no other role's model"
        if self.models.get(role) != self.models.get(owner):
            return f"{role!r} has another model than {owner!r}"
        if self.place(role) != self.place(owner):
            return f"{role!r} is not where {owner!r} is"
        return ""

    def _misplaced(self, path: str) -> Iterator[Problem]:
        _, owner, phase, stage = parse(path)
        owners = {
            *self.algorithm.roles,
            *(f"{{{m}}}" for m in self.models.values()),
            *(f"%{self.place(r).process}" for r in self.algorithm.roles),
            *(f"@{pool}" for pool in self.pools),
        }
        stages = {stage.name for pool in self.pools for stage in self.stages(pool)}
        for kind, name, known in (
            ("owner", owner, owners),
            ("phase", phase, set(self.algorithm.phases)),
            ("kind of rank", stage, stages),
        ):
            if name and name not in known:
                yield Problem(path, f"no {kind} {name!r}; {suggestion(name, known)}")
