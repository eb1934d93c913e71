"""Answers as tables: the fields of an answer, the phases of a run, and what was taken for granted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from alignsim.batch import Batch
from alignsim.graph import TermGraph
from alignsim.lengths import PATHS, Lengths
from alignsim.units import human
from alignsim.views.amounts import amount, count, gb, gib, share, short
from alignsim.views.docs import attribute_docs
from alignsim.views.table import Table

SPOKEN = {"tp_size": "tensor", "pp_size": "pipeline", "dp_size": "data"}
MACHINERY = ("name", "solver", "registry", "resource")


def spoken(name: str) -> str:
    """Return a field's name as one says it."""
    return SPOKEN.get(name, name).replace("_", " ")


def asked(question: Any) -> str:
    """Return what a question asks, in one line."""
    if not attrs.has(type(question)):
        return str(getattr(question, "name", question))
    told = []
    for field in attrs.fields(type(question)):
        value = getattr(question, field.name)
        if field.name not in MACHINERY and value is not None and value not in ((), {}, Lengths()):
            told.append(_sizes(value) if isinstance(value, Batch) else f"{spoken(field.name)} {_laid_out(value)}")
    return f"{question.name}: {', '.join(told)}"


def _laid_out(value: Any) -> str:
    if isinstance(value, Lengths):
        return ", ".join(f"{name} {count(length)}" for name in PATHS if (length := getattr(value, name)) is not None)
    degrees = [getattr(value, name, None) for name in ("tensor", "pipeline", "data")]
    ranks = getattr(value, "sequence", 1)
    shared = f", sequences over {ranks}" if ranks != 1 else ""
    return short(value) if None in degrees else " x ".join(map(str, degrees)) + shared


def _sizes(batch: Batch) -> str:
    sizes = ((field.name, getattr(batch, field.name)) for field in attrs.fields(Batch))
    return ", ".join(f"{spoken(name)} {count(size)}" for name, size in sizes if isinstance(size, int))


def fields_table(answer: Any) -> Table:
    """Return the fields of an answer, each with what it is; those without a number are left out."""
    docs = attribute_docs(type(answer))
    rows = []
    for field in attrs.fields(type(answer)):
        cells = _cells(getattr(answer, field.name))
        if cells is not None:
            rows.append((field.name, *cells, docs.get(field.name, "").removesuffix(".")))
    return Table.of("", ["field", ">value", "", "what it is"], rows)


def _cells(value: Any) -> tuple[str, str] | None:
    """The value, and beside it in GB where it is memory."""
    if hasattr(value, "m_as"):
        number = value.m_as("byte")
        return f"{gib(number)} GiB", f"{gb(number)} GB"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return (share(value) if 0 < value < 1 else count(value)), ""


def phases_table(answer: Mapping[str, Any], about: str, terms: int = 3) -> Table:
    """Return the largest total of each phase, from the plain data of a run's answer; ``about`` says what of."""
    unit = answer["unit"]
    rows = []
    for phase, reached in answer["phases"].items():
        live = [(path, value) for path, value in reached["terms"].items() if value]
        largest, more = live[:terms], len(live[terms:])
        told = ", ".join(f"{path} {amount(value, unit).partition(' (')[0]}" for path, value in largest)
        cells = (f"{gib(reached['value'])} GiB", f"{gb(reached['value'])} GB") if unit == "byte" else None
        value = cells or (amount(reached["value"], unit), "")
        rows.append((phase, *value, instant(reached), told + (f", {more} more" if more else "")))
    return Table.of(
        f"{answer['algorithm']}, phase by phase: {about or answer['resource']}",
        ["phase", ">largest", "", "at", "of which"],
        rows,
        [*_peak(answer)],
    )


def instant(told: Mapping[str, Any]) -> str:
    """Return an instant from its plain data, with its kind of rank."""
    return f"{told['event']} [{told['stage']}]" if told["stage"] else str(told["event"])


def _peak(answer: Mapping[str, Any]) -> Iterator[str]:
    peak, unit = answer["peak"], answer["unit"]
    ends = f", from {amount(peak['low'], unit)} to {amount(peak['high'], unit)}" if peak["low"] != peak["high"] else ""
    yield f"peak: {amount(peak['expected'], unit)} at {instant(answer['binding'])}{ends}"
    if answer["runner_up"]:
        yield f"next: {amount(answer['runner_up']['value'], unit)} at {instant(answer['runner_up'])}"


def held_table(binding: Mapping[str, Any], graph: TermGraph, unit: str) -> Table:
    """Return what is live at an instant, largest first, each with what it is; what is nothing there is left out."""
    rows = []
    for path, value in binding["terms"].items():
        if value:
            term = graph[path].term
            rows.append((path, human(value, unit), term.formula.summary.removesuffix(".") if term else ""))
    return Table.of(f"At {instant(binding)}", ["held", ">how much", "what it is"], rows)


def instants_table(totals: Mapping[str, float], unit: str) -> Table:
    """Return the total at every instant of a lap, in order."""
    rows = ((event, human(total, unit)) for event, total in totals.items())
    return Table.of("From instant to instant", ["instant", ">in all"], rows)


def assumed_table(graph: TermGraph, outputs: tuple[str, ...], values: Mapping[str, float]) -> Table:
    """Return the numbers that nobody asked for and that mattered: defaults and parameter counts, with their source.

    Zeros add nothing, and the switches that a slot promises are what choosing its component means.
    """
    promised = {name for filled in graph.parts.components.values() for c in filled.values() for name in c.slot.promises}
    rows: list[tuple[str, str, str]] = []
    defaults: dict[tuple[str, str, str], list[str]] = {}
    for path in graph.needed(outputs):
        node = graph.nodes[path]
        owner, _, name = path.rpartition(".")
        if name == "parameters" and owner.startswith("{"):
            source = node.given.source if node.given else "counted from its shape"
            rows.append((f"parameters of {owner.strip('{}')}", count(values[path]), source))
        elif node.given is not None and node.given.obtained == "default":
            if values[path] == 0 or (name in promised and not node.given.unit):
                continue
            key = name, amount(node.given.value, node.given.unit), node.given.source
            defaults.setdefault(key, []).append(owner)
    for (name, value, source), owners in defaults.items():
        of = ", ".join(owner for owner in owners if owner)
        rows.append((f"{name.replace('_', ' ')} of {of}" if of else name.replace("_", " "), value, source))
    return Table.of("Assumed", ["what", ">value", "source"], rows)
