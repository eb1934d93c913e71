"""Figures, verdicts, and what makes their ranges, in words and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from alignsim.lengths import PATHS
from alignsim.units import human
from alignsim.verdict import CLOSE_CALL, DOES_NOT_FIT, FITS, Judged, Met, Verdict
from alignsim.views.amounts import count
from alignsim.views.answer import instant
from alignsim.views.table import Table

SHOWN = 4
"""Causes of a range that are shown; the others move it less."""


def figures_table(answer: Mapping[str, Any], about: Mapping[str, str]) -> Table:
    """Return the figures of a run's answer, from its plain data; ``about`` says what each is."""
    unit = answer["unit"]
    rows = []
    for name, figure in answer["figures"].items():
        ends = "" if figure["low"] == figure["high"] else f"{_ends(figure['low'], figure['high'], unit)}"
        rows.append((name, human(figure["expected"], unit), ends, instant(figure), about.get(name, "")))
    return Table.of("Figures", ["figure", ">expected", "from and to", "at", "what it is"], rows)


def _ends(low: float, high: float, unit: str) -> str:
    return f"{human(low, unit)} to {human(high, unit)}"


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """Yield a verdict in words: of all, of every resource and pool, and of every condition."""
    several = len({judged.pool for judged in verdict.judged}) > 1
    whole = f"{verdict.status}: "
    for judged in verdict.judged:
        where = f" in {judged.pool}" if several else ""
        yield f"{whole}{_judged(judged)}{where}, set at {instant(judged.binding.to_dict())}"
        whole = "  "
    for met in verdict.conditions:
        yield f"{whole}{_met(met)}"
        whole = "  "
    if verdict.lengths:
        yield f"lengths: {'; '.join(_lengths(verdict))}"
    for judged in verdict.judged:
        if judged.configured is not None:
            yield f"at configured lengths: {judged.resource} {human(judged.configured, judged.unit)}"


def _lengths(verdict: Verdict) -> Iterator[str]:
    """Yield the lengths that were measured, and those that are configured; in words of their own where both are."""
    real = [(name, value) for name, value in verdict.lengths if name in PATHS.values()]
    rest = [(name, value) for name, value in verdict.lengths if name not in PATHS.values()]
    if real:
        yield f"{_named(real)}, measured"
    if rest:
        kind = "measured" if verdict.real_lengths else "taken as configured, and for every sequence"
        yield f"{_named(rest)}, {'configured' if real else kind}"


def _named(lengths: Iterable[tuple[str, float]]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {count(value)}" for name, value in lengths)


def _judged(judged: Judged) -> str:
    taken = f"{judged.resource} {human(judged.expected, judged.unit)}"
    if judged.low < judged.high:
        taken += f" ({_ends(judged.low, judged.high, judged.unit)})"
    there = f"of {human(judged.usual, judged.unit)}"
    if judged.least < judged.usual:
        there += f" ({human(judged.least, judged.unit)} at least)"
    return f"{taken} {there}"


def _met(met: Met) -> str:
    why = {FITS: "holds", CLOSE_CALL: "may not hold", DOES_NOT_FIT: "does not hold"}
    return f"{met.message}: {why[met.status]}, {human(met.margin, met.unit)} to spare ({met.path})"


def causes_table(verdict: Verdict) -> Table:
    """Return the numbers that make the ranges, the largest effect first."""
    rows = [
        (
            cause.path,
            f"-{human(cause.less, judged.unit)}",
            f"+{human(cause.more, judged.unit)}",
            f"{judged.resource} of {judged.pool}",
            cause.source,
        )
        for judged in verdict.judged
        for cause in judged.causes[:SHOWN]
    ]
    return Table.of("What makes the range", ["number", ">less", ">more", "of", "source"], rows)
