"""Slots are choices between implementations; a component fills one, for one role or for all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from alignsim.algorithm import wanted
from alignsim.errors import CompositionError, Problem
from alignsim.frozen import FrozenDict, frozen
from alignsim.limits import Limit
from alignsim.schedule import Liveness
from alignsim.tenant import Tenant
from alignsim.term import Const, Term

NONE = "none"


@attrs.frozen
class Stage:
    """A kind of rank, such as the first stage of a pipeline.

    Attributes:
        name: how paths spell it.
        present: the name of a number that is 0 where a layout has no such rank; None if every layout has it.
        numbers: what is so of this kind, by name: terms that are ``per`` stage read them.
        holds: slots whose terms take up something there only where a number, named beside them, is above 0.
    """

    name: str
    present: str | None = None
    numbers: Mapping[str, float] = attrs.field(factory=FrozenDict, converter=frozen)
    holds: Mapping[str, str] = attrs.field(factory=FrozenDict, converter=frozen)


@attrs.frozen(kw_only=True)
class Slot:
    """A choice that a run must make for some of its roles.

    Attributes:
        name: how people call it: engine, optimizer, rollout.
        promises: the names that whatever fills it provides to the other terms, each with its unit.
        counts: those of them that must not be lost: each must be read, be in a group or take up a resource.
        required_for: roles with one of these activities must have it filled (``none`` is a filling).
        open_to: roles with one of these take a filling that is chosen for all, and need none.
        limits: what the numbers that it promises are held to, whatever fills it but ``none``.
        kinds: what its fillings may be for, by name, each in words; a plugin may bring another.
        about: one line for people.
    """

    name: str
    promises: Mapping[str, str] = attrs.field(factory=FrozenDict, converter=frozen)
    counts: frozenset[str] = frozenset()
    required_for: frozenset[str] = frozenset()
    open_to: frozenset[str] = frozenset()
    limits: Mapping[str, Limit] = attrs.field(factory=FrozenDict, converter=frozen)
    kinds: Mapping[str, str] = attrs.field(factory=FrozenDict, converter=frozen)
    about: str = ""

    @property
    def none(self) -> Component:
        """The filling that is nothing: 0 for everything the slot promises."""
        defaults = {name: Const(0, unit, source="none") for name, unit in self.promises.items()}
        return Component(name=NONE, slot=self, defaults=defaults, source="chosen: nothing fills this slot")


def _constants(defaults: Mapping[str, Any]) -> Mapping[str, Const]:
    return frozen({name: value if isinstance(value, Const) else Const(value) for name, value in defaults.items()})


def _kinds(value: str | Iterable[str]) -> frozenset[str]:
    return frozenset([value] if isinstance(value, str) else value)


@attrs.frozen(kw_only=True)
class Component:
    """A filling of a slot: a handful of terms, and defaults for numbers that an input overrides.

    Attributes:
        name: how people call it.
        slot: the slot that it fills.
        terms: its formulas.
        defaults: numbers by name, each a :class:`Const` with its source.
        stages: the kinds of rank that it tells apart, if it is an engine that does.
        limits: what it asks of numbers, by name: its own, or others such as a layout's; without them, nothing.
        source: the code, version or paper that it follows.
        never: activities that a role with it cannot have, each with the reason.
        kinds: what it is for, by name, where an algorithm or a component needs a kind; empty if it says nothing.
        needs: the kinds of other fillings that it works with, any of which will do: by slot for its own role,
            by ``model_of.slot`` for the role on whose weights it runs.
        left_out: what it does not count, one line each, for people.
        releases: instants before which its role's process gives back memory that it keeps and does not need.
        tenant: a role that it brings, which takes over from the role that it is chosen for.

    Raises:
        CompositionError: it does not provide a name that its slot promises.
    """

    name: str
    slot: Slot
    terms: tuple[Term, ...] = ()
    defaults: Mapping[str, Const] = attrs.field(factory=FrozenDict, converter=_constants)
    stages: tuple[Stage, ...] = ()
    limits: Mapping[str, Limit] = attrs.field(factory=FrozenDict, converter=frozen)
    source: str = ""
    never: Mapping[str, str] = attrs.field(factory=FrozenDict, converter=frozen)
    kinds: frozenset[str] = attrs.field(default=frozenset(), converter=_kinds)
    needs: Mapping[str, tuple[str, ...]] = attrs.field(factory=FrozenDict, converter=wanted)
    left_out: tuple[str, ...] = ()
    releases: Liveness | None = None
    tenant: Tenant | None = None

    def __attrs_post_init__(self) -> None:
        offered = {term.name for term in self.terms} | set(self.defaults)
        broken = [name for name in self.slot.promises if name not in offered]
        if broken:
            raise CompositionError(
                Problem(
                    f"component {self.slot.name}:{self.name}",
                    f"does not provide {', '.join(broken)}, which slot {self.slot.name!r} promises; "
                    "add a term of that name, or a default",
                )
            )
