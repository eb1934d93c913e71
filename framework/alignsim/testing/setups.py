"""Set-ups to try plugins in: small models of every kind, a batch, and fillings of all slots that go together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

import attrs

from alignsim.algorithm import Algorithm
from alignsim.architecture import Architecture
from alignsim.batch import Batch
from alignsim.component import NONE, Component
from alignsim.errors import AlignSimError, InvalidInput, RefusedRun
from alignsim.given import Inputs
from alignsim.hardware import Accelerator
from alignsim.registry import Registry
from alignsim.scenario import Scenario
from alignsim.tenant import Tenant


def _model(name: str, **shape: Any) -> Architecture:
    usual: dict[str, Any] = {"layers": 4, "hidden": 256, "heads": 8, "ffn": 704, "vocab": 4096, "source": "made up"}
    return Architecture(name=name, **{**usual, **shape})


MODELS: Mapping[str, Architecture] = {
    model.name: model
    for model in (
        _model("plain"),
        _model("grouped", kv_heads=2, qkv_bias=True),
        _model("tied", kv_heads=4, tied=True, head_dim=48, vocab=9000),
        _model("normalised", kv_heads=2, qk_norm=True, head_dim=64),
        _model("experts", kv_heads=2, ffn=0, experts=8, experts_per_token=2, expert_ffn=192),
        _model("scoring", kv_heads=4).with_scalar_head(name="scoring"),
        _model("latent", kv_lora_rank=64, q_lora_rank=96, qk_nope_head_dim=32, qk_rope_head_dim=16, v_head_dim=32),
    )
}
"""One small model of every kind: heads of their own, grouped, tied, normalised queries, experts, one number, latent."""

DEVICE = Accelerator(name="to try", vendor="made up", usable_memory="80 GiB", source="made up")

SIZES: Mapping[str, int] = {"micro_batch": 2, "sequence_tokens": 96, "prompt_tokens": 32, "rollout_tokens": 96}


def batch_fields() -> tuple[str, ...]:
    """Return the sizes that a batch has."""
    inherited = {field.name for field in attrs.fields(Inputs)}
    return tuple(field.name for field in attrs.fields(Batch) if field.name not in inherited)


@attrs.frozen
class Setup:
    """A run by names alone: short to read where a test fails, and easy to try again.

    Attributes:
        algorithm: its name.
        components: slot, or ``role.slot`` -> name of its filling.
        model: one of ``MODELS``, for the first role and for whoever runs its model.
        other: the model of all others.
        batch: sizes of the batch.
    """

    algorithm: str
    components: Mapping[str, str] = attrs.field(factory=dict)
    model: str = "grouped"
    other: str = "plain"
    batch: Mapping[str, int] = attrs.field(factory=dict)

    def scenario(self, registry: Registry) -> Scenario:
        """Return the run.

        Raises:
            AlignSimError: it makes no sense, and why.
        """
        algorithm = registry.algorithms[self.algorithm]
        own = [role for role in algorithm.roles if role not in algorithm.model_of]
        models: dict[str, Any] = {role: MODELS[self.other if i else self.model] for i, role in enumerate(own)}
        sizes: dict[str, Any] = {n: SIZES.get(n, 4) for n in batch_fields() if n != "accumulation_steps"}
        return Scenario(
            name=f"{self.algorithm} to try",
            algorithm=algorithm,
            models=models,
            accelerator=DEVICE,
            components=self.components,
            batch=Batch(source="made up", **{**sizes, **self.batch}),
            registry=registry,
        )


def _doing(algorithm: Algorithm) -> frozenset[str]:
    return frozenset(kind for role in algorithm.roles for kind in algorithm.activities(role))


class Workbench:
    """Finds fillings that go together, by trying: what composes fits, everything else is refused with a reason.

    Args:
        registry: where everything is looked up.
    """

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._found: dict[tuple[str, str, str], Setup | InvalidInput] = {}
        self._runs: dict[tuple[str, str, str], Scenario] = {}

    def slots(self, algorithm: Algorithm) -> tuple[str, ...]:
        """Return the slots that some role of an algorithm needs filled, or a tenant of one."""
        doing = set(_doing(algorithm))
        if any(tenant.sync and tenant.takes in doing for tenant in self._tenants.values()):
            doing.add("sync")
        return tuple(sorted(name for name, slot in self.registry.slots.items() if slot.required_for & doing))

    @cached_property
    def _tenants(self) -> Mapping[tuple[str, str], Tenant]:
        """The tenants that components bring, by slot and filling."""
        every = self.registry.components.values()
        return {(c.slot.name, c.name): c.tenant for c in every if c.tenant is not None}

    def places(self, algorithm: Algorithm, slot: str) -> tuple[str, ...]:
        """Return the spellings of a slot: for all roles together, then for each role that needs it by itself."""
        wanted = self.registry.slots[slot].required_for
        return slot, *(f"{role}.{slot}" for role in algorithm.roles if wanted & algorithm.activities(role))

    def setup(self, algorithm: str, place: str = "", filling: str = "") -> Setup:
        """Return a set-up of an algorithm that composes, with a filling at a place where one is named.

        Slots are filled for all roles alike where that goes, and with ``none`` only where nothing else does.

        Raises:
            InvalidInput: none was found; why the nearest is refused.
        """
        key = algorithm, place, filling
        if key not in self._found:
            self._found[key] = self._search(algorithm, {place: filling} if place else {})
        found = self._found[key]
        if isinstance(found, InvalidInput):
            raise found
        return found

    def _search(self, name: str, pinned: Mapping[str, str]) -> Setup | InvalidInput:
        """Change one filling at a time for whatever leaves the fewest problems."""
        algorithm = self.registry.algorithms[name]
        slots = self.slots(algorithm)
        chosen = self._suited(algorithm, {slot: self._choices(slot)[0] for slot in slots})
        if pinned:
            with suppress(InvalidInput):
                chosen = dict(self.setup(name).components)
        for place in pinned:  # of a slot that only tenants need: choose one
            if not self.registry.slots[place.rpartition(".")[2]].required_for & _doing(algorithm):
                chosen |= next({slot: filling} for slot, filling in self._tenants)
        chosen |= pinned
        for place in pinned:
            self._provide(algorithm, chosen, place, pinned)
        places = [place for slot in slots for place in self.places(algorithm, slot) if place not in pinned]
        least, error = self._problems(name, chosen)
        places.sort(key=lambda place: ("." in place, -self._complaints(error, place, chosen.get(place, NONE))))
        if error is not None and any(not self._suits(algorithm, chosen, place) for place in algorithm.needs):
            return error  # it is of another kind than the algorithm works with
        improved = True
        while error is not None and improved:
            improved = False
            amiss = self._asked(slots, error) if pinned else set(places)  # the rest composes by itself
            tried = [place for place in places if place in amiss]
            for place, filling in ((p, f) for p in tried for f in self._choices(p.rpartition(".")[2])):
                other = {**chosen, place: filling}
                left, reason = self._problems(name, other)
                if left < least:
                    least, error, chosen, improved = left, reason, other, True
                if error is None:
                    break
        return Setup(name, chosen) if error is None else error

    def _provide(self, algorithm: Algorithm, chosen: dict[str, str], place: str, pinned: Mapping[str, str]) -> None:
        """Choose fillings of the kinds that a filling works with, and of those that they work with in turn."""
        role, dot, slot = place.rpartition(".")
        for wanted, kinds in self.registry.component(slot, chosen[place]).needs.items():
            other, _, need = wanted.rpartition(".")
            where = f"{algorithm.model_of.get(role, role)}.{need}" if other and role else f"{role}{dot}{need}"
            name = chosen.get(where, chosen.get(need, NONE))
            if where in pinned or not {where, need} & chosen.keys():
                continue  # asked for, or nobody needs it
            if self.registry.component(need, name).kinds.intersection(kinds):
                continue
            suiting = (n for n in self._choices(need) if self.registry.component(need, n).kinds.intersection(kinds))
            chosen[where] = next(suiting, name)
            self._provide(algorithm, chosen, where, pinned)

    def _asked(self, slots: Iterable[str], error: InvalidInput) -> set[str]:
        """The slots that problems speak of, or that have a filling which brings what is needed."""
        words = set(re.findall(r"\w+", str(error)))
        needed = set(re.findall(r"needs '(\w+)'", str(error)))
        return {s for s in slots if words & {s, *self.registry.slots[s].promises} or needed & self._brought(s)}

    def _complaints(self, error: InvalidInput | None, place: str, filling: str) -> int:
        """How many of the problems are with what a filling brings."""
        slot = place.rpartition(".")[2]
        own = {slot, *self._brought(slot, filling)}
        return sum(problem.field.rpartition(".")[2] in own for problem in (error.problems if error else ()))

    def _brought(self, slot: str, *names: str) -> set[str]:
        """All names that some fillings of a slot bring; that any of them brings, if none is named."""
        fillings = [self.registry.component(slot, name) for name in names or self._choices(slot)]
        return {name for f in fillings for name in (*(term.name for term in f.terms), *f.defaults)}

    def tied(self, algorithm: str, place: str, filling: str) -> dict[str, str]:
        """Return what has to be filled otherwise than usual where a filling is chosen, with the filling itself."""
        usual = self.setup(algorithm).components
        chosen = self.setup(algorithm, place, filling).components
        return {p: name for p, name in chosen.items() if usual.get(p) != name or p == place}

    def _suited(self, algorithm: Algorithm, chosen: Mapping[str, str]) -> dict[str, str]:
        """Choose what an algorithm works with: for all roles where that goes, for one role where it needs another."""
        found = dict(chosen)
        for place in algorithm.needs:
            slot = place.rpartition(".")[2]
            for where in (slot, place):
                others = [each for each in algorithm.needs if each.rpartition(".")[2] == slot and each != place]
                if slot not in found or self._suits(algorithm, found, place):
                    break
                if where == slot and any(self._suits(algorithm, found, each) for each in others):
                    continue
                fit = (n for n in self._choices(slot) if self._suits(algorithm, {**found, where: n}, place))
                found[where] = next(fit, found[slot])
        return found

    def _suits(self, algorithm: Algorithm, chosen: Mapping[str, str], place: str) -> bool:
        """Whether what is chosen for a role is of a kind that the algorithm works with there."""
        slot = place.rpartition(".")[2]
        name = chosen.get(place, chosen.get(slot))
        kinds = self.registry.component(slot, name).kinds if name else frozenset()
        return not kinds or bool(kinds.intersection(algorithm.needs[place]))

    def _choices(self, slot: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*(n for n in self.registry.fillings(slot) if n != NONE), NONE)))

    def _problems(self, algorithm: str, components: Mapping[str, str]) -> tuple[float, InvalidInput | None]:
        """How far a set-up is from composing, and why; one that composes and is then refused is nearest."""
        try:
            run = Setup(algorithm, components).scenario(self.registry)
            run.graph[run.resource]
        except RefusedRun as error:
            return 0.5 * (1 - 0.5 ** len(error.problems)), error
        except InvalidInput as error:
            return len(error.problems), error
        except AlignSimError as error:
            return 1, InvalidInput(str(error))
        return 0, None

    def fitting(self, algorithm: str) -> dict[str, tuple[str, ...]]:
        """Return, by place, the fillings with which a set-up of an algorithm was found.

        Those that go with all roles are told at the slot; others at the roles that they go with.
        """
        found: dict[str, list[str]] = {}
        for slot in self.slots(self.registry.algorithms[algorithm]):
            for name in self.registry.fillings(slot):
                for place in self._where(algorithm, slot, name):
                    found.setdefault(place, []).append(name)
        return {place: tuple(names) for place, names in found.items()}

    def _where(self, algorithm: str, slot: str, filling: str) -> tuple[str, ...]:
        """The slot, if a filling goes with all roles alike; else the places of those that it goes with."""
        together, *apart = self.places(self.registry.algorithms[algorithm], slot)
        if self._fits(algorithm, together, filling):
            return (together,)
        return tuple(place for place in apart if self._fits(algorithm, place, filling))

    def _fits(self, algorithm: str, place: str, filling: str) -> bool:
        try:
            self.setup(algorithm, place, filling)
        except InvalidInput:
            return False
        return True

    def run(self, algorithm: str, place: str = "", filling: str = "") -> Scenario:
        """Return the run of :meth:`setup`, the same one when it is asked for again.

        Raises:
            InvalidInput: no such set-up was found.
        """
        key = algorithm, place, filling
        if key not in self._runs:
            self._runs[key] = self.setup(*key).scenario(self.registry)
        return self._runs[key]

    def runs(self) -> Iterator[Scenario]:
        """Yield a run for every algorithm and filling that go together: in all, every filling that fits anywhere."""
        for algorithm in self.registry.algorithms:
            for place, names in self.fitting(algorithm).items():
                yield from (self.run(algorithm, place, name) for name in names)

    def runs_with(self, component: Component) -> Iterator[Scenario]:
        """Yield a run for every algorithm, or role of one, that a component goes with."""
        slot = component.slot.name
        for name, algorithm in self.registry.algorithms.items():
            for place in self._where(name, slot, component.name) if slot in self.slots(algorithm) else ():
                yield self.run(name, place, component.name)
