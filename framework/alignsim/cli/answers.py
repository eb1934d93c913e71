"""Showing an answer: what was asked, the numbers, the verdict, and what was taken for granted or left out."""

from __future__ import annotations

from typing import Any

import attrs

from alignsim.cli.asking import Asked
from alignsim.cli.output import show, show_lines
from alignsim.plan import Plan
from alignsim.result import Result
from alignsim.verdict import Verdict
from alignsim.views.answer import asked as asked_line
from alignsim.views.answer import assumed_table, fields_table, held_table, instants_table, phases_table
from alignsim.views.presets import chosen_table
from alignsim.views.table import Table
from alignsim.views.verdict import causes_table, figures_table, verdict_lines


def verdict(answer: Any) -> tuple[bool | None, list[str]]:
    """Return whether it fits, None where that is not sure or nobody can say, and the verdict in words.

    An answer says so itself, by ``fits`` and ``verdict``; that of a run by a verdict that has both.
    """
    told = getattr(answer, "verdict", None)
    if isinstance(told, Verdict):
        return told.fits, list(verdict_lines(told))
    return getattr(answer, "fits", None), [str(told)] if told else []


def unsure(answer: Any) -> bool:
    """Whether the verdict is neither yes nor no."""
    told = getattr(answer, "verdict", None)
    return isinstance(told, Verdict) and told.fits is None


def plain_answer(answer: Any) -> dict[str, Any]:
    """Return an answer as plain data."""
    told: dict[str, Any] = answer.to_dict()
    if isinstance(answer, Result):
        told = {"schema": told.pop("schema"), "fits": verdict(answer)[0], **told}
    return told


def show_answer(asked: Asked, answer: Any, told: list[str], *, instants: bool = False) -> None:
    """Write an answer for people; of a run, also from instant to instant."""
    show_lines([asked_line(asked.question), *asked.notes])
    if isinstance(answer, Result):
        resources = answer.graph.parts.resources
        data = answer.to_dict()
        show(phases_table(data, resources[answer.resource].about))
        show(figures_table(data, {name: resource.about for name, resource in resources.items()}))
        if instants:
            totals = {event: total.magnitude for event, total in answer.instants.items()}
            show(instants_table(totals, data["unit"]))
        show(held_table(data["binding"], answer.graph, data["unit"]))
        for judged in answer.verdict.judged if answer.verdict else ():
            if judged.binding.event != answer.binding.event:
                show(held_table(judged.binding.to_dict(), answer.graph, judged.unit))
    elif attrs.has(type(answer)):
        show(fields_table(answer))
    else:
        show_lines([str(answer)])
    show_lines(told)
    reached = getattr(answer, "verdict", None)
    if isinstance(reached, Verdict):
        show(causes_table(reached))
    question = asked.question
    if getattr(question, "preset", None) is not None:
        show(chosen_table(question.preset.name, question.settled.defaults.components))
    graph, outputs = asked.question.graph, asked.question.outputs
    show(assumed_table(graph, outputs, Plan.of(graph, graph.needed(outputs)).evaluate()))
    show(Table.of("Left out", [""], ([text] for text in asked.left_out)))
