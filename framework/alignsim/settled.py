"""What is in force in a run: what its user says, and for the rest what a preset has by default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from alignsim.batch import Batch
from alignsim.component import Component
from alignsim.errors import InvalidInput
from alignsim.frozen import frozen
from alignsim.given import Given
from alignsim.preset import Defaults, overruled


@attrs.frozen
class Settled:
    """The choices and the numbers of a run, whoever made them.

    Attributes:
        components: fillings by ``slot`` or ``role.slot``.
        batch: sizes of the work.
        givens: numbers by path.
        defaults: what of them a preset chose.
    """

    components: Mapping[str, Component] = attrs.field(converter=frozen)
    batch: Batch
    givens: Mapping[str, Given] = attrs.field(converter=frozen)
    defaults: Defaults = attrs.field(factory=Defaults)


def settled(
    components: Mapping[str, Component],
    batch: Batch,
    givens: Mapping[str, Given],
    rest: Defaults,
    fillings: Mapping[str, Component],
) -> Settled:
    """Return a user's choices completed by defaults; ``fillings`` are the components that those name.

    Raises:
        InvalidInput: a size of the defaults does not go with the user's.
    """
    sizes = {name: told for name, told in rest.batch.items() if _unsaid(batch, name)}
    numbers = {path: told for path, told in rest.givens.items() if not overruled(path, givens)}
    return Settled(
        components={**fillings, **components},
        batch=_completed(batch, sizes),
        givens={**{path: _given(told) for path, told in numbers.items()}, **givens},
        defaults=Defaults(rest.components, sizes, numbers),
    )


def _unsaid(batch: Batch, name: str) -> bool:
    return bool(getattr(batch, name) == getattr(attrs.fields(Batch), name).default)


def _completed(batch: Batch, sizes: Mapping[str, Any]) -> Batch:
    if not sizes:
        return batch
    values = {name: told.value for name, told in sizes.items()}
    sources = {**batch.sources, **{name: told.source for name, told in sizes.items()}}
    try:
        return attrs.evolve(batch, **values, sources=sources)
    except InvalidInput as error:
        told = "; ".join(f"{name} {default.value} is of {default.source}" for name, default in sizes.items())
        raise InvalidInput([attrs.evolve(p, message=f"{p.message} ({told})") for p in error.problems]) from None


def _given(told: Any) -> Given:
    number: Given = told.value.as_given()
    return attrs.evolve(number, source=told.source, obtained="default")
