"""A scenario is a question about one set-up: immutable, composed when asked, varied by making another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from os import PathLike
from typing import Any, TypeVar

import attrs

from alignsim.algorithm import Algorithm
from alignsim.architecture import Architecture
from alignsim.batch import Batch
from alignsim.coherence import incoherent
from alignsim.component import NONE, Component, Slot
from alignsim.errors import InvalidInput, Problem, UnknownName, suggestion
from alignsim.frozen import frozen
from alignsim.given import Given, Inputs, described, stated
from alignsim.hardware import Accelerator
from alignsim.layout import Layout, Place
from alignsim.lengths import Lengths
from alignsim.parts import Parts
from alignsim.preset import Default, Defaults, Preset, names_of
from alignsim.question import Question
from alignsim.registry import Registry, default_registry
from alignsim.resource import resting
from alignsim.settled import Settled, settled
from alignsim.tenant import Tenant
from alignsim.term import Term

EVERY = "*"
S = TypeVar("S", bound="Scenario")


# Names pass through these, which tell type checkers that they may; they are looked up in the scenario's own registry.
def _algorithm(value: Algorithm | str) -> Algorithm:
    return value  # type: ignore[return-value]


def _models(value: Mapping[str, Architecture | str | PathLike[str]]) -> Mapping[str, Architecture]:
    return value  # type: ignore[return-value]


def _accelerator(
    value: Accelerator | str | Mapping[str, Accelerator | str] | None,
) -> Accelerator | Mapping[str, Accelerator] | None:
    return value  # type: ignore[return-value]


def _components(value: Mapping[str, Component | str]) -> Mapping[str, Component]:
    return value  # type: ignore[return-value]


def _givens(value: Mapping[str, Any]) -> Mapping[str, Given]:
    return value


def _preset(value: Preset | str | None) -> Preset | None:
    return value  # type: ignore[return-value]


@described
@attrs.frozen(kw_only=True, slots=False, repr=False)
class Scenario(Question):
    """A run: an algorithm, the models of its roles, the choices made for them, and the devices they are on.

    Names are accepted wherever an object of a catalogue is; for a model, so is the path of its ``config.json``.

    Attributes:
        name: what it is called.
        algorithm: who does what when.
        models: role -> model. A role that is left out has the model of the role that the algorithm names for it. A
            model that is only named gets a scalar head where the algorithm says that the role has one; an
            :class:`Architecture` is taken as it is.
        accelerator: the device of every pool, or pool -> device.
        layout: how models are spread.
        layouts: role -> another layout than that of the others.
        batch: how much work there is at once.
        lengths: how long sequences really are, where that is known.
        components: fillings of slots, by ``slot`` for all roles that need it or by ``role.slot``; ``{"*": "none"}``
            fills every other slot with nothing.
        preset: a framework whose defaults are in force where nothing else is said.
        givens: numbers by path that are set on purpose; ``role.name`` or just ``name`` in the simple cases.
        places: role -> process and pool.
        terms: terms added to those of the plugins.
        resource: the resource that is asked about.
        solver: who answers.

    Raises:
        InvalidInput: misspelt fields and wrong values, all at once.
        UnknownName: a name that no catalogue has.
    """

    name: str = "run"
    algorithm: Algorithm = attrs.field(converter=_algorithm)
    models: Mapping[str, Architecture] = attrs.field(converter=_models)
    accelerator: Accelerator | Mapping[str, Accelerator] | None = attrs.field(default=None, converter=_accelerator)
    layout: Layout = attrs.field(factory=Layout)
    layouts: Mapping[str, Layout] = attrs.field(factory=dict)
    batch: Batch = attrs.field(factory=Batch)
    lengths: Lengths = attrs.field(factory=Lengths)
    components: Mapping[str, Component] = attrs.field(factory=dict, converter=_components)
    givens: Mapping[str, Given] = attrs.field(factory=dict, converter=_givens)
    preset: Preset | None = attrs.field(default=None, converter=_preset)
    places: Mapping[str, Place] = attrs.field(factory=dict)
    terms: tuple[Term, ...] = ()
    resource: str = "allocated"
    solver: str = "peak-memory"
    registry: Registry = attrs.field(factory=default_registry, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        registry = self.registry
        wrong = list(self._mistyped())
        if wrong:
            raise InvalidInput(wrong)
        _set(self, "algorithm", registry.resolve("algorithms", self.algorithm, "Scenario.algorithm"))
        _set(self, "models", {role: self._named(role, model) for role, model in self.models.items()})
        if isinstance(self.accelerator, Mapping):
            _set(
                self,
                "accelerator",
                {
                    p: registry.resolve("accelerators", a, f"Scenario.accelerator[{p!r}]")
                    for p, a in self.accelerator.items()
                },
            )
        elif self.accelerator is not None:
            _set(self, "accelerator", registry.resolve("accelerators", self.accelerator, "Scenario.accelerator"))
        if self.preset is not None:
            _set(self, "preset", registry.resolve("presets", self.preset, "Scenario.preset"))
        chosen = {k: self._component(k, c) for k, c in self.components.items() if k != EVERY}
        if EVERY in self.components:
            chosen = {name: slot.none for name, slot in self._others(chosen)} | chosen
        _set(self, "components", chosen)
        givens: dict[str, Given] = {}
        problems: list[Problem] = []
        for path, value in self.givens.items():
            try:
                givens[path] = stated(value)
            except InvalidInput as error:
                problems += error.inside(path).problems
        if problems:
            raise InvalidInput(problems)
        _set(self, "givens", givens)

    def _named(self, role: str, model: Architecture | str) -> Architecture:
        found: Architecture = self.registry.resolve("architectures", model, f"Scenario.models[{role!r}]")
        if not isinstance(model, str | PathLike) or role not in self.algorithm.scalar_heads or found.head == "scalar":
            return found
        try:
            return found.with_scalar_head()
        except InvalidInput as error:
            raise error.inside(f"models[{role!r}]") from None

    def _mistyped(self) -> Iterator[Problem]:
        layout: Any = self.layout
        terms: Any = self.terms
        for field in ("models", "layouts", "components", "givens", "places"):
            value = getattr(self, field)
            if not isinstance(value, Mapping):
                yield Problem(field, f"expected a dictionary, got {value!r}")
            elif field in ("layouts", "places"):
                kind = Layout if field == "layouts" else Place
                for role, item in value.items():
                    if not isinstance(item, kind):
                        yield Problem(f"{field}[{role!r}]", f"expected a {kind.__name__}, got {item!r}")
                _set(self, field, dict(value))
        if not isinstance(layout, Layout):
            yield Problem("layout", f"expected a Layout, got {layout!r}")
        if not isinstance(terms, Iterable):
            yield Problem("terms", f"expected terms, got {terms!r}")
            return
        terms = tuple(terms)
        _set(self, "terms", terms)
        for item in terms:
            if not isinstance(item, Term):
                yield Problem("terms", f"expected a term, a function under @term(...); got {item!r}")

    def _others(self, chosen: Mapping[str, Component]) -> Iterator[tuple[str, Slot]]:
        rest: Any = self.components[EVERY]
        if rest != NONE:
            raise InvalidInput(Problem(f"components[{EVERY!r}]", f"can only be {NONE!r}, got {rest!r}"))
        known = {*chosen, *self._defaults(chosen).components}
        yield from ((name, slot) for name, slot in self.registry.slots.items() if name not in known)

    def _defaults(self, chosen: Mapping[str, Component]) -> Defaults:
        if self.preset is None:
            return Defaults()
        return self.preset.defaults(self.algorithm.name, names_of(chosen))

    @cached_property
    def settled(self) -> Settled:
        """The choices and numbers in force: its own, completed by those of the preset.

        Raises:
            InvalidInput: a size of the preset does not go with those of the batch.
            UnknownName: the preset names a component that nobody offers.
        """
        rest = self._defaults(self.components)
        fillings = {place: self._default(place, told) for place, told in rest.components.items()}
        return settled(self.components, self.batch, self.givens, rest, fillings)

    def _default(self, place: str, told: Default) -> Component:
        try:
            return self._component(place, told.value)
        except UnknownName as error:
            raise UnknownName(error.kind, error.name, error.known, f"{place} is of {told.source}") from None

    def _component(self, key: str, component: Component | str) -> Component:
        slot = key.rpartition(".")[2]
        if not isinstance(component, Component | str):
            raise InvalidInput(Problem(f"components[{key!r}]", f"expected a component or its name, got {component!r}"))
        found = component if isinstance(component, Component) else self.registry.component(slot, component)
        if found.slot.name != slot:
            raise InvalidInput(
                Problem(f"components[{key!r}]", f"{found.name!r} fills slot {found.slot.name!r}, not {slot!r}")
            )
        return found

    @cached_property
    def tenants(self) -> Mapping[str, Tenant]:
        """The roles that components bring, each by the role that it takes over from."""
        found: dict[str, Tenant] = {}
        for role in self.algorithm.roles:
            doing = self.algorithm.activities(role)
            for component in self._chosen(role, doing).values():
                if component.tenant is not None and component.tenant.takes in doing:
                    found[role] = component.tenant
        return found

    @cached_property
    def played(self) -> Algorithm:
        """The algorithm, completed by tenants."""
        algorithm = self.algorithm
        for role, tenant in self.tenants.items():
            algorithm = tenant.joined(algorithm, role)
        return algorithm

    @property
    def housed(self) -> Mapping[str, Place]:
        """Role -> process and pool, those of tenants too."""
        return {**{tenant.role: tenant.place for tenant in self.tenants.values()}, **self.places}

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the fields together."""
        yield from incoherent(self)

    def model(self, role: str) -> Architecture | None:
        """Return the model of a role, its own or another's that the algorithm names; None if it has none."""
        seen: set[str] = set()
        while role not in self.models and role not in seen:
            seen.add(role)
            role = self.played.model_of.get(role, role)
        return self.models.get(role)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The total of the resource, and those that rest on it."""
        resources = self.registry.resources
        resting_on_it = (name for name in resources if self.resource in {r.name for r in resting(resources, name)})
        return (self.resource, *(name for name in resting_on_it if name != self.resource and name in self.graph.nodes))

    def hints(self, problems: Iterable[Problem]) -> tuple[str, ...]:
        """Return what its preset leaves to be said of what problems name."""
        if self.preset is None:
            return ()
        named = {word for problem in problems for word in re.findall(r"\w+", f"{problem.field} {problem.message}")}
        return tuple(
            f"preset {self.preset.name} leaves to be said: {line}"
            for line in self.preset.asks
            if named.intersection(name.strip().rpartition(".")[2] for name in line.partition(":")[0].split(","))
        )

    @property
    def left_out(self) -> tuple[str, ...]:
        """What its components do not count, and the slots that are filled with nothing; one line each."""
        chosen = [component for role in self.played.roles for component in self._fillings(role).values()]
        empty = dict.fromkeys(c.slot.name for c in chosen if c == c.slot.none)
        told = [f"whatever these slots stand for, as nothing fills them: {', '.join(empty)}"] if empty else []
        preset = self.preset.left_out if self.preset else ()
        return tuple(dict.fromkeys([*(line for component in chosen for line in component.left_out), *preset, *told]))

    def parts(self) -> Parts:
        """Return what the graph is composed of."""
        roles = self.played.roles
        models = {role: model for role in roles if (model := self.model(role)) is not None}
        facts = {f"{{{m.name}}}.{name}": number for m in models.values() for name, number in m.numbers().items()}
        facts |= self.played.numbers
        facts |= self.layout.numbers() | self.settled.batch.numbers() | self.lengths.numbers()
        facts |= {
            f"{role}.{name}": number
            for role, layout in self.layouts.items()
            for name, number in layout.numbers().items()
        }
        for pool in dict.fromkeys(self.housed.get(role, Place()).pool for role in roles):
            device = self.accelerator.get(pool) if isinstance(self.accelerator, Mapping) else self.accelerator
            if device is not None:
                facts |= {f"@{pool}.{name}": number for name, number in device.numbers().items()}
        return Parts(
            algorithm=self.played,
            terms=(*self.registry.terms(self.algorithm), *self.played.terms, *self.terms),
            components={role: self._fillings(role) for role in roles},
            slots=self.registry.slots,
            models={role: model.name for role, model in models.items()},
            places=self.housed,
            resources=dict(self.registry.resources),
            facts=facts,
            givens={path: number for path, number in self.settled.givens.items() if self._has(path)},
        )

    def _has(self, path: str) -> bool:
        """Whether a number is a user's own, or of a role that there is: presets speak of roles of all algorithms."""
        owner = path.rpartition(".")[0]
        return path in self.givens or not owner.isidentifier() or owner in self.played.roles

    def _fillings(self, role: str) -> dict[str, Component]:
        """Return the fillings of a role: what was chosen for it, then what its tenant brings, then what is for all."""
        doing = self.played.activities(role)
        if role in self.tenants:  # it still has what it would do by itself, but for the tenant
            doing |= self.algorithm.activities(role)
        chosen = {s: c for s, c in self._chosen(role, doing).items() if role not in self.tenants or c.tenant is None}
        brought = next((tenant.components for tenant in self.tenants.values() if tenant.role == role), {})
        return chosen | {slot: own for slot, own in brought.items() if f"{role}.{slot}" not in self.settled.components}

    def _chosen(self, role: str, doing: frozenset[str]) -> dict[str, Component]:
        found = {}
        for key, component in self.settled.components.items():
            owner, _, slot = key.rpartition(".")
            wanted = component.slot.required_for
            takes = not wanted or bool((wanted | component.slot.open_to) & doing)
            if owner == role or (not owner and takes and f"{role}.{slot}" not in self.settled.components):
                found[slot] = component
        return found

    def using(self: S, **changes: Any) -> S:
        """Return the same run with fields changed; numbers of layout and batch and inputs of the graph count as fields.

        With another ``algorithm``, what was said of roles that it does not have is dropped.

        Raises:
            InvalidInput: no such field or input, or a value that is wrong.
        """
        own = {name: value for name, value in changes.items() if name in _names(type(self))}
        given = {name: value for name, value in changes.items() if name not in own}
        for field in ("layout", "batch"):
            part = own.get(field, getattr(self, field))
            if not isinstance(part, Inputs):
                continue  # refused below, as what it is
            sizes = _names(type(part)) - _names(Inputs)
            named = {name: given.pop(name) for name in tuple(given) if name in sizes and name not in self.givens}
            if named:
                own[field] = attrs.evolve(part, **named)
        if given:
            own["givens"] = {**self.givens, **own.get("givens", {}), **self._inputs(given)}
        if "algorithm" in own:
            other = self.registry.resolve("algorithms", own["algorithm"], "Scenario.algorithm")
            doing = frozenset[str]().union(*(other.activities(role) for role in other.roles))
            roles = (*other.roles, *(tenant.role for tenant in self.tenants.values() if tenant.takes in doing))
            for field in ("models", "layouts", "places", "components"):
                kept = {k: v for k, v in getattr(self, field).items() if _role(field, k) in (*roles, "")}
                own.setdefault(field, kept)
        return attrs.evolve(self, **own)

    def _inputs(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return numbers by path; one that several owners have is set for all of them."""
        owners: dict[str, list[str]] = {}
        for path in self.graph.givens:
            owners.setdefault(path.rpartition(".")[2], []).append(path)
        known = {*_names(type(self)), *_names(Layout), *_names(Batch), *owners}
        unknown = [Problem(n, f"no such field or input; {suggestion(n, known)}") for n in given if n not in owners]
        if unknown:
            raise InvalidInput(unknown)
        return {owners[n][0] if len(owners[n]) == 1 else n: value for n, value in given.items()}

    def with_terms(self: S, *terms: Term) -> S:
        """Return the same run with terms added; ``@term(..., replaces=True)`` takes the place of one of that name."""
        return attrs.evolve(self, terms=(*self.terms, *terms))

    def with_givens(self: S, givens: Mapping[str, Any]) -> S:
        """Return the same run with numbers set by path, such as ``{"policy.weight_bytes": 4}``."""
        return attrs.evolve(self, givens={**self.givens, **givens})


def _set(scenario: Scenario, field: str, value: Any) -> None:
    object.__setattr__(scenario, field, frozen(value) if isinstance(value, dict) else value)


def _names(cls: type) -> set[str]:
    return {field.name for field in attrs.fields(cls)}


def _role(field: str, key: str) -> str:
    return key.rpartition(".")[0] if field == "components" else key
