"""Showing an answer: what was asked, the numbers, the verdict, and what was taken for granted or left out."""

from __future__ import annotations

from typing import Any

import attrs

from alignsim.cli.asking import Asked
from alignsim.cli.output import show, show_lines
from alignsim.given import Given
from alignsim.plan import Plan
from alignsim.result import Result
from alignsim.views.amounts import amount, measured
from alignsim.views.answer import asked as asked_line
from alignsim.views.answer import assumed_table, fields_table, held_table, instants_table, phases_table
from alignsim.views.plain import plain
from alignsim.views.table import Table

DEVICE = "device"


def verdict(answer: Any, capacity: Given | None) -> tuple[bool | None, str]:
    """Return whether it fits, None where nobody can say, and the verdict in words.

    An answer may say so itself, by ``fits`` and ``verdict``. The peak of a run is held against the memory of a device:
    above it, the run does not fit, whatever else there is; below it, what is not counted is still to come.
    """
    if not isinstance(answer, Result) or hasattr(answer, "fits"):
        return getattr(answer, "fits", None), str(getattr(answer, "verdict", ""))
    if capacity is None or answer.resource != DEVICE:
        return None, ""
    _, expected, _ = answer.range
    peak, whole = amount(expected, "byte"), measured(capacity)
    if expected > capacity.value:
        return False, f"does not fit: {peak} on one device, which has {whole}"
    rest = amount(capacity.value - expected, "byte")
    return None, f"fits so far: {peak} of the {whole} of a device; what is left out must do with {rest}"


def plain_answer(answer: Any, capacity: Given | None) -> dict[str, Any]:
    """Return an answer as plain data; that of a run is completed by what it was held against."""
    told: dict[str, Any] = answer.to_dict()
    if isinstance(answer, Result):
        told = {"capacity": plain(capacity), "fits": verdict(answer, capacity)[0], **told}
        told = {"schema": told.pop("schema"), **told}
    return told


def show_answer(asked: Asked, answer: Any, told: str, *, instants: bool = False) -> None:
    """Write an answer for people; of a run, also from instant to instant."""
    show_lines([asked_line(asked.question), *asked.notes])
    if isinstance(answer, Result):
        about = answer.graph.parts.resources[answer.resource].about
        data = answer.to_dict()
        show(phases_table(data, about))
        if instants:
            totals = {event: total.magnitude for event, total in answer.instants.items()}
            show(instants_table(totals, data["unit"]))
        show(held_table(data["binding"], answer.graph, data["unit"]))
    elif attrs.has(type(answer)):
        show(fields_table(answer))
    else:
        show_lines([str(answer)])
    show_lines([told] if told else [])
    graph, outputs = asked.question.graph, asked.question.outputs
    show(assumed_table(graph, outputs, Plan.of(graph, graph.needed(outputs)).evaluate()))
    show(Table.of("Left out", [""], ([text] for text in asked.left_out)))
