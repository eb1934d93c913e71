"""A term is one formula with a place in the graph: a plain function whose parameter names are its dependencies."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from operator import attrgetter
from types import FunctionType
from typing import Any, Literal

import attrs

from alignsim.errors import CompositionError, Origin, Problem, suggestion
from alignsim.formula import Formula
from alignsim.given import Given, given
from alignsim.limits import ANY, COUNTED, SIZE, Limit
from alignsim.schedule import Liveness, always
from alignsim.units import dimension

DIMENSIONS = ("phase", "role", "stage", "model", "process", "pool")


@attrs.frozen
class Const:
    """A parameter default: a constant that an input of the same name overrides.

    Unlike a number in a formula, it has a unit, a range and a source: ``Const("0.5 GiB", low="0.3 GiB",
    high="1 GiB", unit="byte", source="...")``. ``limit`` says what an input in its place may be, such as ``COUNT``.
    """

    value: Any
    unit: str = ""
    low: Any = None
    high: Any = None
    source: str = ""
    obtained: str = "default"
    limit: Limit = SIZE

    def as_given(self) -> Given:
        """Return the constant as an input in base units."""
        return given(self.value, self.unit, low=self.low, high=self.high, source=self.source, obtained=self.obtained)


@attrs.frozen
class Of:
    """A parameter default: a name of another owner, such as ``Of("policy.parameters")``."""

    path: str


@attrs.frozen
class Collect:
    """A parameter default: the ``sum`` (or the ``max``) of a group of terms within the scope of the asking term.

    ``roles`` narrows it to some roles.
    """

    group: str
    reduce: Literal["sum", "max"] = attrs.field(default="sum", validator=attrs.validators.in_(("sum", "max")))
    roles: tuple[str, ...] | None = None


@attrs.frozen
class Total:
    """A parameter default: what a resource adds up to, overall or at a moment of the asking term's role.

    The asking term's own fill (see ``term(fill=True)``) is never in it.
    """

    resource: str
    at: str | None = None


@attrs.frozen(eq=False)
class Term:
    """One formula and its place in the graph.

    Attributes:
        name: the name that other terms ask for.
        formula: the function.
        unit: the unit of what it returns; checked when a graph is composed.
        per: the dimensions it has one value for each of: phase, role, stage, model, process, pool.
        resource: the resource whose totals collect it, if any.
        live: when it takes up that resource.
        during: it exists for roles whose activity is one of these (in the phase, where it is per phase).
        groups: groups that a ``Collect`` parameter gathers it under.
        source: where the formula is from.
        replaces: True, or the provider of the term that it takes the place of.
        fill: it takes what is left of its resource, and so may read the total of the rest.
        condition: what holds where its value is at least 0, for a verdict; empty for what is no condition.
        refuses: what is wrong where its value is above 0: such runs and rows are refused; empty if it refuses nothing.
        limit: what a number in its place is held to; None for at least 0, and exact where it counts
            something; of a condition or a refusal, for anything.
    """

    name: str
    formula: Formula
    unit: str
    per: frozenset[str] = frozenset()
    resource: str | None = None
    live: Liveness = always
    during: frozenset[str] | None = None
    groups: tuple[str, ...] = ()
    source: str = ""
    replaces: bool | str = False
    fill: bool = False
    condition: str = ""
    refuses: str = ""
    limit: Limit | None = None

    def __call__(self, *values: Any, **named: Any) -> Any:
        """A term is still the function it was written as: unit tests call it with plain numbers."""
        return self.formula.function(*values, **named)

    def __reduce__(self) -> Any:
        function = self.formula.function
        known = _find_or_none(function.__module__, function.__qualname__)
        if known is self:
            return _find, (function.__module__, function.__qualname__)
        if isinstance(known, Term) and known.formula is self.formula:  # the same formula somewhere else
            both = ((f.name, getattr(self, f.name), getattr(known, f.name)) for f in attrs.fields(Term))
            return _again, (known, {name: own for name, own, other in both if own != other})
        raise TypeError(f"term {self.name!r} cannot travel: {self.formula.provider} is not a name of a module")

    def again(self, **changes: Any) -> Term:
        """Return the same formula as another term, such as of a role instead of its model: always the same object."""
        key = (self.provider, self.name, tuple(sorted(changes.items())))
        return _AGAIN.setdefault(key, attrs.evolve(self, **changes))

    @property
    def provider(self) -> str:
        """The dotted name of the function, for messages."""
        return self.formula.provider

    @property
    def bounds(self) -> Limit:
        """What a number in its place is held to. Bytes and counts stay where floats are exact."""
        if self.limit is not None:
            return self.limit
        if self.condition or self.refuses:
            return ANY
        return COUNTED if dimension(self.unit) in ("dimensionless", "[information]") else SIZE

    @property
    def origin(self) -> Origin:
        """The file and line of the function."""
        return self.formula.origin


_AGAIN: dict[tuple[Any, ...], Term] = {}


def term(
    unit: str,
    *,
    per: Iterable[str] = (),
    resource: str | None = None,
    live: Liveness = always,
    during: Iterable[str] | None = None,
    group: str | Iterable[str] = (),
    source: str = "",
    name: str | None = None,
    replaces: bool | str = False,
    fill: bool = False,
    condition: str = "",
    refuses: str = "",
    limit: Limit | None = None,
    opaque: bool = False,
) -> Callable[[Callable[..., Any]], Term]:
    """Declare the function below as a term; see :class:`Term` for the arguments.

    A ``condition`` returns a margin: a run can only do what it is asked to where that is at least 0.

    >>> @term("byte", per={"role"})
    ... def weights(parameters, weight_bytes):
    ...     '''Weights of a whole model.'''
    ...     return parameters * weight_bytes
    >>> weights(7e9, 2.0)
    14000000000.0

    Raises:
        CompositionError: an unknown dimension, ``live`` without a resource, or a condition with one.
    """
    unknown = set(per) - set(DIMENSIONS)

    def declare(function: Callable[..., Any]) -> Term:
        if not isinstance(function, FunctionType):
            raise CompositionError(f"a term is a plain function, written with def; got {function!r}")
        formula = Formula(function, opaque)
        problems = [
            Problem(function.__name__, f"no dimension {bad!r}; {suggestion(bad, DIMENSIONS)}", formula.origin)
            for bad in sorted(unknown)
        ]
        if resource is None and (live is not always or fill):
            problems.append(Problem(function.__name__, "says when it is live, but of no resource", formula.origin))
        if resource is not None and condition:
            problems.append(Problem(function.__name__, "is a condition, and takes up nothing", formula.origin))
        if problems:
            raise CompositionError(problems)
        return Term(
            name=name or function.__name__,
            formula=formula,
            unit=unit,
            per=frozenset(per),
            resource=resource,
            live=live,
            during=None if during is None else frozenset(during),
            groups=(group,) if isinstance(group, str) else tuple(group),
            source=source,
            replaces=replaces,
            fill=fill,
            condition=condition,
            refuses=refuses,
            limit=limit,
        )

    return declare


def _find(module: str, name: str) -> Any:
    return attrgetter(name)(import_module(module))


def _again(known: Term, changes: dict[str, Any]) -> Term:
    return known.again(**changes)


def _find_or_none(module: str, name: str) -> Any:
    try:
        return attrgetter(name)(sys.modules[module])
    except (AttributeError, KeyError):
        return None
