"""The door: what all plugins offer, by name. A broken plugin is told of, and breaks nothing else."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from os import PathLike, curdir
from os.path import isabs, join
from typing import TYPE_CHECKING, Any

import attrs

from alignsim.catalogue import Catalogue, Failure, Offer, Provider
from alignsim.collector import Collector, Report, unpack
from alignsim.component import NONE
from alignsim.contract import KINDS, slot_of
from alignsim.discovery import Modules, load_file, scan
from alignsim.errors import DuplicateName, InvalidInput, Problem, UnknownName

if TYPE_CHECKING:
    import click

    from alignsim.algorithm import Algorithm
    from alignsim.architecture import Architecture
    from alignsim.component import Component, Slot
    from alignsim.detector import Detector
    from alignsim.family import Family
    from alignsim.hardware import Accelerator, Cluster, Node
    from alignsim.preset import Preset
    from alignsim.question import Question
    from alignsim.reader import Found, Reader
    from alignsim.resource import Resource
    from alignsim.solver import Solver
    from alignsim.term import Term
    from alignsim.validation import Validation

__all__ = ["Catalogue", "Failure", "Modules", "Provider", "Registry", "Report", "default_registry", "load_file", "scan"]


class Registry:
    """What plugins offer, by kind and name. Each catalogue is made when it is first asked for, and stays as it is.

    Plugins that are handed over are checked at once, and one that breaks the contract raises. Those that are
    discovered are looked for at the first question; what goes wrong with one is kept in :attr:`failures` and
    :attr:`plugins`, and is told wherever a name is missing that it might have offered. A hook that raises, midway
    or not, offers nothing.

    Args:
        plugins: modules, objects, classes, or what :func:`scan` returns.
        discover: also find the plugins of installed distributions, except those in ``ALIGNSIM_DISABLE_PLUGINS``.
        strict: raise at the first failure or clash instead of keeping it.

    Raises:
        PluginError: a plugin that is handed over breaks the contract.

    >>> Registry().algorithms
    <algorithm: none>
    """

    def __init__(self, plugins: Iterable[Any] = (), *, discover: bool = False, strict: bool = False) -> None:
        self._collector = Collector(plugins, discover, strict)
        self._terms: dict[int, tuple[weakref.ref[Algorithm], tuple[Term, ...]]] = {}

    def with_plugins(self, *plugins: Any) -> Registry:
        """Return a registry that has these plugins as well; this one stays as it is.

        Raises:
            PluginError: one of them breaks the contract.
        """
        mine, registry = self._collector, Registry()
        registry._collector = Collector((*mine.given, *plugins), mine.discover, mine.strict, mine.found)
        return registry

    def __reduce__(self) -> Any:
        mine = self._collector
        if mine.discover and not mine.given and not mine.strict:
            return default_registry, ()  # another process finds its own plugins
        return _again, (mine.pack(), mine.discover, mine.strict)

    def __repr__(self) -> str:
        given = [str(provider) for provider in self._collector.providers.values() if not provider.discovered]
        installed = ["all installed plugins"] if self._collector.discover else []
        return f"<Registry: {', '.join([*installed, *sorted(given)]) or 'no plugin'}>"

    @cached_property
    def accelerators(self) -> Catalogue[Accelerator]:
        """The accelerators."""
        return self._catalogue("alignsim_accelerators")

    @cached_property
    def nodes(self) -> Catalogue[Node | Cluster]:
        """The nodes and the clusters."""
        return self._catalogue("alignsim_nodes")

    @cached_property
    def detectors(self) -> Catalogue[Detector]:
        """What finds the devices of this machine."""
        return self._catalogue("alignsim_detectors")

    @cached_property
    def architectures(self) -> Catalogue[Architecture]:
        """The model architectures."""
        return self._catalogue("alignsim_architectures")

    @cached_property
    def families(self) -> Catalogue[Family]:
        """The families of models whose files can be read, by ``model_type``."""
        return self._catalogue("alignsim_families")

    @cached_property
    def readers(self) -> Catalogue[Reader]:
        """What reads models and components from files."""
        return self._catalogue("alignsim_readers")

    @cached_property
    def algorithms(self) -> Catalogue[Algorithm]:
        """The alignment algorithms."""
        return self._catalogue("alignsim_algorithms")

    @cached_property
    def components(self) -> Catalogue[Component]:
        """The components of all slots, as ``slot:name``; see :meth:`component`."""
        return self._catalogue("alignsim_components")

    @cached_property
    def slots(self) -> Mapping[str, Slot]:
        """The slots that components fill, by name.

        Raises:
            DuplicateName: components of different plugins mean different slots by one name.
        """
        found: dict[str, Slot] = {}
        for key, component in self.components.items():
            slot = found.setdefault(component.slot.name, component.slot)
            if slot != component.slot:
                raise DuplicateName(f"component {key} means another slot by {slot.name!r} than those before it")
        return found

    @cached_property
    def presets(self) -> Catalogue[Preset]:
        """The frameworks' defaults, by framework and version."""
        return self._catalogue("alignsim_presets")

    @cached_property
    def resources(self) -> Catalogue[Resource]:
        """The resources."""
        return self._catalogue("alignsim_resources")

    @cached_property
    def scenarios(self) -> Catalogue[Question]:
        """The scenarios."""
        return self._catalogue("alignsim_scenarios", registry=self)

    @cached_property
    def solvers(self) -> Catalogue[Solver]:
        """The solvers."""
        return self._catalogue("alignsim_solvers")

    @cached_property
    def validations(self) -> Catalogue[Validation]:
        """The kinds of measurements that predictions are compared with."""
        return self._catalogue("alignsim_validations")

    @cached_property
    def commands(self) -> Catalogue[click.Command]:
        """The commands that plugins add to the command line."""
        return self._catalogue("alignsim_commands")

    def _catalogue(self, hook: str, **arguments: Any) -> Catalogue[Any]:
        kind = KINDS[hook]
        answers = self._collector.ask(hook, **arguments)
        offers = [Offer(kind.key(item), item, provider, kind.aliases(item)) for provider, item in answers]
        catalogue: Catalogue[Any] = Catalogue(kind.name, offers, self.note(hook))
        if self._collector.strict:
            for clash in catalogue.clashes.values():
                raise clash
        return catalogue

    def component(self, slot: str, name: str) -> Component:
        """Return the component of that name in a slot, or the one that a path stands for.

        Raises:
            UnknownName: no component fills that slot, or none of that name does; what the slot has is suggested.
            InvalidInput: what the path stands for cannot be read, is wrong, or fills another slot.
            DuplicateName: two plugins offer it.
        """
        found = self._read_component(slot, name)
        if found is not None:
            return found
        everything = self.components
        slots = {slot_of(component) for component in everything.values()}
        if slot not in slots:
            raise UnknownName("slot", slot, slots, everything.note)
        try:
            return everything[f"{slot}:{name}"]
        except UnknownName:
            if name == NONE:
                return self.slots[slot].none
            raise UnknownName(f"component of slot {slot!r}", name, self.fillings(slot), everything.note) from None

    def resolve(self, catalogue: str, value: Any, field: str = "") -> Any:
        """Return an object of a catalogue: the one of that name, or ``value`` if it is such an object already.

        A path to a file, or whatever else a reader takes, is a name too.

        Raises:
            UnknownName: no object has that name.
            InvalidInput: neither a name nor such an object, or a file that is wrong; ``field`` is told as the place.
        """
        if isinstance(value, PathLike):
            value = str(value) if isabs(value) else join(curdir, value)  # never a name
        if isinstance(value, str):
            return self._resolved(catalogue, value, field)
        if not isinstance(value, KINDS[f"alignsim_{catalogue}"].classes()):
            raise InvalidInput(Problem(field, f"expected one of the {catalogue}, or the name of one; got {value!r}"))
        return value

    def _resolved(self, catalogue: str, name: str, field: str) -> Any:
        objects = getattr(self, catalogue)
        if name in objects:
            return objects[name]
        try:
            found = self.read(catalogue, name)
        except InvalidInput as error:
            raise InvalidInput([attrs.evolve(p, field=p.field or field) for p in error.problems]) from None
        if found is None:
            return objects[name]  # raises, with what is near
        if found.item is None:
            raise InvalidInput(Problem(field, f"{name} holds weights, and does not say what they are of"))
        return found.item

    def read(self, catalogue: str, text: str) -> Found | None:
        """Return what a path or an address stands for; None where no reader takes it for one.

        Raises:
            InvalidInput: it cannot be read, or is wrong.
            PluginError: a reader breaks the contract.
        """
        from alignsim.reading import read

        return read(self.readers, catalogue, text, self)

    def _read_component(self, slot: str, name: str) -> Component | None:
        if f"{slot}:{name}" in self.components:
            return None
        found = self.read("components", name)
        if found is None:
            return None
        if slot_of(found.item) != slot:
            raise InvalidInput(Problem(slot, f"{name} describes what fills slot {slot_of(found.item)!r}"))
        component: Component = found.item
        return component

    def fillings(self, slot: str) -> tuple[str, ...]:
        """Return the names of the components of a slot."""
        return tuple(component.name for component in self.components.values() if slot_of(component) == slot)

    def terms(self, algorithm: Algorithm) -> tuple[Term, ...]:
        """Return the terms that plugins offer for an algorithm, by name and then by the dotted name of the function."""
        place = id(algorithm)
        known = self._terms.get(place)
        if known is not None and known[0]() is algorithm:
            return known[1]
        answers = self._collector.ask("alignsim_terms", algorithm=algorithm)
        answers.sort(key=lambda answer: (answer[1].name, answer[1].provider, answer[0]))
        terms = tuple(term for _, term in answers)
        self._terms[place] = weakref.ref(algorithm, lambda _: self._terms.pop(place, None)), terms
        return terms

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What has gone wrong so far; hooks that nobody has asked yet are not in it. See :attr:`plugins` for all."""
        return self._collector.failures()

    @property
    def plugins(self) -> tuple[Report, ...]:
        """How every plugin fares, by name. This asks every hook; terms are asked for every known algorithm."""
        catalogues = [getattr(self, hook.removeprefix("alignsim_")) for hook in KINDS if hook != "alignsim_terms"]
        for algorithm in self.algorithms.values():
            self.terms(algorithm)
        return self._collector.reports(
            (provider, str(clash))
            for catalogue in catalogues
            for spelling, clash in catalogue.clashes.items()
            for provider in catalogue.providers(spelling)
        )

    def note(self, hook: str) -> str:
        """Return a line for each plugin that might have answered a hook and did not; empty if all did."""
        return self._collector.note(hook)


def _again(packed: tuple[tuple[str, Any], ...], discover: bool, strict: bool) -> Registry:
    return Registry(unpack(packed), discover=discover, strict=strict)


@cache
def default_registry() -> Registry:
    """Return the registry of all installed plugins; always the same one within a process."""
    return Registry(discover=True)
