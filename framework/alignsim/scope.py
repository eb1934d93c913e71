"""Where a value belongs, and how that is spelt: ``update:policy[first].logits``.

=====================  ==============================================
``update:``            a phase
``policy``             a role
``{Llama-3.1-8B}``     a model
``%trainer``           a process
``@gpus``              a pool of devices
``[first]``            a kind of rank
``/forward``           a moment of a role (totals only)
``first~``             the first lap instead of a steady one (totals only)
=====================  ==============================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from alignsim.errors import InvalidInput

_PATH = re.compile(
    r"(?:(?P<phase>\w+):)?"
    r"(?P<owner>\{[^{}]+\}|%\w+|@\w+|\w+(?=[.\[]))?"
    r"(?:\[(?P<stage>\w+)\])?"
    r"(?(owner)\.|(?(stage)\.))(?P<name>\w+)"
)


@attrs.frozen
class Scope:
    """The dimensions that a value has: its owner (a role, else a model, process or pool), phase and kind of rank.

    A role leads to its model, process and pool, which are then filled in as well.
    """

    phase: str | None = None
    role: str | None = None
    stage: str | None = None
    model: str | None = None
    process: str | None = None
    pool: str | None = None

    def holds(self, other: Scope) -> bool:
        """Whether a value of the other scope lies within this one: every dimension that this one has agrees."""
        own = attrs.asdict(self)
        return all(value is None or getattr(other, name) in (value, None) for name, value in own.items())

    def lookups(self, name: str) -> Iterator[str]:
        """Yield the paths at which ``name`` is looked for, nearest first: the one fixed order."""
        owners = (
            self.role,
            self.model and f"{{{self.model}}}",
            self.process and f"%{self.process}",
            self.pool and f"@{self.pool}",
        )
        for owner in (*(o for o in owners if o), ""):
            if self.phase and self.stage:
                yield spell(name, owner, self.phase, self.stage)
            if self.stage:
                yield spell(name, owner, None, self.stage)
            if self.phase:
                yield spell(name, owner, self.phase, None)
            yield spell(name, owner, None, None)


def spell(name: str, owner: str = "", phase: str | None = None, stage: str | None = None) -> str:
    """Return the path of a value; ``owner`` is already spelt (``policy``, ``{Llama-3.1-8B}``, ``@gpus``)."""
    place = f"{owner}[{stage}]" if stage else owner
    path = f"{place}.{name}" if place else name
    return f"{phase}:{path}" if phase else path


def parse(path: str) -> tuple[str, str, str | None, str | None]:
    """Return the name, owner, phase and stage of a path.

    Raises:
        InvalidInput: it is not spelt as a path.
    """
    match = _PATH.fullmatch(path)
    if match is None:
        raise InvalidInput(
            f"{path!r} is not a path; write [phase:][owner][[stage]].name, such as policy.parameters, "
            "update:policy[first].logits, {Llama-3.1-8B}.layers or @gpus.usable_memory"
        )
    return match["name"], match["owner"] or "", match["phase"], match["stage"]


def anywhere(path: str, phase: str | None, stage: str | None) -> Iterator[str]:
    """Yield the paths that another owner's ``path`` may mean to a term in ``phase`` and ``stage``, nearest first."""
    name, owner, own_phase, own_stage = parse(path)
    for p in dict.fromkeys((own_phase, None) if own_phase else (phase, None)):
        for s in dict.fromkeys((own_stage,) if own_stage else (stage, None)):
            yield spell(name, owner, p, s)
