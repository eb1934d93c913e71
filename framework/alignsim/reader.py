"""A reader makes an object of what a path or an address stands for, wherever the name of one is expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from alignsim.registry import Registry


@attrs.frozen
class Stored:
    """Tensors of one format that files of weights hold.

    Attributes:
        format: as the files spell it: BF16, F32, F8_E4M3.
        tensors: how many there are.
        elements: of all of them together.
        size: their bytes.
    """

    format: str
    tensors: int
    elements: int
    size: int


@attrs.frozen
class Found:
    """What a reader found.

    Attributes:
        item: an architecture or a component; None where the files only hold weights.
        notes: what was taken for granted or left out, one line each.
        stored: the weights that files beside it hold, by format.
    """

    item: Any
    notes: tuple[str, ...] = ()
    stored: tuple[Stored, ...] = ()


@attrs.frozen(kw_only=True)
class Reader:
    """Reads objects of one catalogue from somewhere else.

    Attributes:
        name: what it reads.
        catalogue: whose objects it makes: ``architectures`` or ``components``.
        claims: whether a text is a path or an address that it reads. Names of the catalogue come first.
        read: returns what is there; it raises :class:`InvalidInput` for what cannot be read or is wrong, never
            another error.
        about: one line for people.
    """

    name: str
    catalogue: str = attrs.field(validator=attrs.validators.in_(("architectures", "components")))
    claims: Callable[[str], bool]
    read: Callable[[str, Registry], Found]
    about: str = ""
