"""What a framework does by default, in one version: choices of components and numbers, each with where it was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import attrs

from alignsim.batch import Batch
from alignsim.component import NONE, Component
from alignsim.errors import InvalidInput, Problem, suggestion
from alignsim.frozen import FrozenDict, frozen
from alignsim.given import Inputs
from alignsim.term import Const

SIZES = tuple(f.name for f in attrs.fields(Batch) if f.name not in {field.name for field in attrs.fields(Inputs)})


def _constants(numbers: Mapping[str, Any]) -> Mapping[str, Const]:
    return frozen({path: value if isinstance(value, Const) else Const(value) for path, value in numbers.items()})


def _choices(value: Iterable[Choice]) -> tuple[Choice, ...]:
    return tuple(value)


def _words(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _conditions(value: Mapping[str, str | Iterable[str]]) -> Mapping[str, tuple[str, ...]]:
    return frozen({place: _words(names) for place, names in value.items()})


@attrs.frozen(kw_only=True)
class Choice:
    """Some defaults that are read in one place, and when they are in force.

    Attributes:
        components: names of fillings, by ``slot`` for all roles or by ``role.slot``.
        batch: sizes, by field of :class:`Batch`.
        givens: numbers by path, a :class:`Const` where one has a unit or a range.
        source: the file, page or line that says so.
        algorithms: the algorithms that it is for; all, if none is named. What it chooses for a role is for those
            that have the role anyway.
        where: the fillings by ``slot`` or ``role.slot`` with which it is in force; any, if none is named. A name may
            be a pattern: ``vllm*`` is every version of vLLM, and every way to hold it. What it chooses for a role where
            the same slot is filled so for all, follows from a user's choice for all.

    Raises:
        InvalidInput: a size that a batch does not have.
    """

    components: Mapping[str, str] = attrs.field(factory=FrozenDict, converter=frozen)
    batch: Mapping[str, int] = attrs.field(factory=FrozenDict, converter=frozen)
    givens: Mapping[str, Const] = attrs.field(factory=FrozenDict, converter=_constants)
    source: str
    algorithms: tuple[str, ...] = attrs.field(default=(), converter=_words)
    where: Mapping[str, tuple[str, ...]] = attrs.field(factory=FrozenDict, converter=_conditions)

    def __attrs_post_init__(self) -> None:
        unknown = [Problem(f"Choice.batch[{n!r}]", suggestion(n, SIZES)) for n in self.batch if n not in SIZES]
        if unknown:
            raise InvalidInput(unknown)

    def holds(self, algorithm: str, chosen: Mapping[str, str]) -> bool:
        """Whether it is in force for an algorithm and what is chosen already."""
        if self.algorithms and algorithm not in self.algorithms:
            return False
        return all(named(filling(place, chosen), names) for place, names in self.where.items())


def named(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name is one of some names, or goes with one of some patterns.

    >>> named("vllm-0.17", ["sglang", "vllm*"]), named("vllm-0.17", ["vllm"])
    (True, False)
    """
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def names_of(fillings: Mapping[str, Component]) -> dict[str, str]:
    """Return the names of components by place."""
    return {place: component.name for place, component in fillings.items()}


def filling(place: str, chosen: Mapping[str, str]) -> str:
    """Return what is chosen at ``role.slot``, else for the slot, else ``none``.

    >>> filling("critic.loss", {"loss": "naive"})
    'naive'
    """
    return chosen.get(place, chosen.get(place.rpartition(".")[2], NONE))


def overruled(place: str, own: Mapping[str, Any], follows: Iterable[str] = ()) -> bool:
    """Whether something at ``role.name`` gives way to a user's own: at that place, or for all roles.

    What ``follows`` from the choice for all roles stands beside it: a reference's engine, from the policy's.

    >>> overruled("critic.loss", {"loss": "naive"}), overruled("loss", {"critic.loss": "score"})
    (True, False)
    >>> overruled("reference.engine", {"engine": "zero-3"}, follows=["engine"])
    False
    """
    name = place.rpartition(".")[2]
    return place in own or (name in own and name not in follows)


@attrs.frozen(kw_only=True)
class Preset:
    """A framework in one version: its defaults, for whoever says nothing else.

    Attributes:
        name: how people call it, with its version.
        framework: the framework.
        version: its version or commit.
        choices: its defaults; a later one takes the place of an earlier one at the same place.
        aliases: other names.
        algorithms: those that it runs; each is asked for by name.
        only: by slot, the fillings, or patterns of them, that it knows for all roles; any, for a slot that is not
            named.
        source: where it was read.
        about: what is assumed, for people: a few sentences.
        asks: what has no default that could be known, and has to be said: names and a colon, then words; a line each.
        left_out: what of the framework is not counted, one line each.

    Raises:
        InvalidInput: a choice for an algorithm that it does not run.
    """

    name: str
    framework: str
    version: str
    choices: tuple[Choice, ...] = attrs.field(converter=_choices)
    aliases: tuple[str, ...] = attrs.field(default=(), converter=_words)
    algorithms: tuple[str, ...] = attrs.field(converter=_words)
    only: Mapping[str, tuple[str, ...]] = attrs.field(factory=FrozenDict, converter=_conditions)
    source: str
    about: str = ""
    asks: tuple[str, ...] = attrs.field(default=(), converter=_words)
    left_out: tuple[str, ...] = attrs.field(default=(), converter=_words)

    def __attrs_post_init__(self) -> None:
        wrong = [
            Problem(f"choices[{i}].algorithms", f"{self.name} runs no {name!r}; {suggestion(name, self.algorithms)}")
            for i, choice in enumerate(self.choices)
            for name in choice.algorithms
            if name not in self.algorithms
        ]
        if wrong:
            raise InvalidInput(wrong)

    def problems(self, algorithm: str, own: Mapping[str, str]) -> Iterator[Problem]:
        """Yield what of a user's choices it does not run."""
        if algorithm not in self.algorithms:
            yield Problem("preset", f"{self.name} runs no {algorithm}; {suggestion(algorithm, self.algorithms)}")
        for slot, names in self.only.items():
            if slot in own and not named(own[slot], names):
                message = f"{self.name} has {' or '.join(map(repr, names))} there, got {own[slot]!r}"
                yield Problem(f"components[{slot!r}]", message)

    def defaults(self, algorithm: str, own: Mapping[str, str]) -> Defaults:
        """Return what it chooses for an algorithm, beside a user's own fillings by place, which overrule it."""
        found = Defaults()
        for choice in self.choices:
            chosen = {place: told.value for place, told in found.components.items()}
            if choice.holds(algorithm, {**chosen, **own}):
                fillings = {
                    place: name for place, name in choice.components.items() if not overruled(place, own, choice.where)
                }
                found = found.changed(
                    components=self._told(fillings, choice),
                    batch=self._told(choice.batch, choice),
                    givens=self._told(choice.givens, choice),
                )
        return found

    def _told(self, values: Mapping[str, Any], choice: Choice) -> dict[str, Default]:
        return {place: Default(value, f"{self.name}: {choice.source}") for place, value in values.items()}


@attrs.frozen
class Default:
    """What a framework has at a place unless it is told otherwise.

    Attributes:
        value: the name of a component, a size, or a :class:`Const`.
        source: which preset says so, and where that was read.
    """

    value: Any
    source: str


@attrs.frozen
class Defaults:
    """What a preset chooses for a run, by place.

    Attributes:
        components: fillings.
        batch: sizes.
        givens: numbers.
    """

    components: Mapping[str, Default] = attrs.field(factory=FrozenDict, converter=frozen)
    batch: Mapping[str, Default] = attrs.field(factory=FrozenDict, converter=frozen)
    givens: Mapping[str, Default] = attrs.field(factory=FrozenDict, converter=frozen)

    def changed(self, **more: Mapping[str, Default]) -> Defaults:
        """Return the same with others added; a filling for all roles takes the place of those of single roles."""
        found: dict[str, Mapping[str, Default]] = {}
        for field, values in more.items():
            kept = {
                p: d for p, d in getattr(self, field).items() if p == p.rpartition(".")[2] or not overruled(p, values)
            }
            found[field] = {**kept, **values}
        return Defaults(**found)
