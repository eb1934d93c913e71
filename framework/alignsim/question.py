"""What every kind of scenario can do: be composed, answered, varied and swept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import attrs

from alignsim.brief import fields
from alignsim.compose import compose
from alignsim.errors import CompositionError, InvalidInput, Problem
from alignsim.graph import TermGraph
from alignsim.parts import Parts
from alignsim.plan import Plan
from alignsim.refusals import check_refusals, check_rows
from alignsim.registry import Registry

if TYPE_CHECKING:
    from alignsim.sweep import Sweep

Q = TypeVar("Q", bound="Question")


class Question(ABC):
    """What every kind of scenario can do. A kind says what its graph is made of, and who answers.

    Attributes:
        name: how people call it.
        solver: the name of the solver that answers it.
        registry: where names are looked up.
        axes: names that ``sweep`` takes for inputs of the graph, beside their paths.
    """

    name: str
    solver: str
    registry: Registry
    axes: ClassVar[Mapping[str, str]] = {}

    def __repr__(self) -> str:
        return fields(self)

    @abstractmethod
    def parts(self) -> Parts:
        """Return what the graph is composed of."""

    @property
    @abstractmethod
    def outputs(self) -> tuple[str, ...]:
        """The paths of what is asked for."""

    @cached_property
    def graph(self) -> TermGraph:
        """The composed graph.

        Raises:
            CompositionError: the parts make no whole, or a term refuses them; plugins that failed are told of.
        """
        try:
            graph = compose(self.parts())
            check_refusals(graph)
            return graph
        except CompositionError as error:
            notes = [Problem("", note) for note in (*self.hints(error.problems), *self.warnings)]
            raise type(error)([*error.problems, *notes]) from None

    def hints(self, problems: Iterable[Problem]) -> tuple[str, ...]:
        """Return what else may be said of problems of its parts."""
        return ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Plugins that failed to offer terms or components, which this question may therefore lack."""
        notes = (self.registry.note("alignsim_terms"), self.registry.note("alignsim_components"))
        return tuple(dict.fromkeys(line for note in notes for line in note.splitlines() if line))

    @cached_property
    def plan(self) -> Plan:
        """The compiled plan of the outputs."""
        return Plan.of(self.graph, self.outputs)

    @cached_property
    def _plans(self) -> dict[tuple[str, ...], Plan]:
        """The plans that were swept, by their outputs; they keep the code that is generated for it."""
        return {}

    @cached_property
    def result(self) -> Any:
        """The answer, by the scenario's solver."""
        return self.registry.solvers[self.solver].solve(self)

    def __getstate__(self) -> dict[str, Any]:
        """Travel as what was asked: whatever was worked out since can be worked out again."""
        fields: tuple[Any, ...] = attrs.fields(type(self))  # type: ignore[arg-type]
        return {field.name: getattr(self, field.name) for field in fields}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)

    def using(self: Q, **changes: Any) -> Q:
        """Return the same question with some fields changed.

        Raises:
            InvalidInput: no such field, or a value that is wrong.
        """
        return attrs.evolve(self, **changes)  # type: ignore[misc]

    def sweep(
        self, columns: Mapping[str, Any] | None = None, *, outputs: tuple[str, ...] | None = None, **axes: Any
    ) -> Sweep:
        """Return the outputs for many values of some inputs, row by row.

        Args:
            columns: rows of numbers by the path of an input, such as ``{"policy.layers": [...]}``.
            outputs: paths to compute, instead of the scenario's own.
            axes: the same by name. All rows are equally long; a single number stands for a whole row. Arrays of
                floats are not copied.

        Raises:
            UnknownName: no such input or output.
            InvalidInput: rows that differ in length, are no numbers, do not give finite answers, or are refused.
        """
        from alignsim.sweep import sweep

        named: dict[str, Any] = {}
        for name, values in (*(columns or {}).items(), *axes.items()):
            path = self.axes.get(name, name)
            if path in named:
                raise InvalidInput(Problem(name, f"is {path}, which another column sets already"))
            named[path] = values
        asked = self.outputs if outputs is None else tuple(outputs)
        if asked not in self._plans:
            self._plans[asked] = self.plan if outputs is None else Plan.of(self.graph, asked)
        swept = sweep(self._plans[asked], named)
        check_rows(swept)
        return swept
