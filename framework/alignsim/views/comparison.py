"""Predictions beside measurements, as tables."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim.validation import Comparison, Row, Summary
from alignsim.views.amounts import gib
from alignsim.views.table import Table


def percent(share: float | None, digits: int = 2, sign: str = "") -> str:
    """Return a share in percent; a dash where there is none.

    >>> percent(0.0123), percent(0.5, 0), percent(-0.01, sign="+"), percent(None)
    ('1.23 %', '50 %', '-1.00 %', '-')
    """
    return "-" if share is None else f"{100 * share:{sign}.{digits}f} %"


def rows_table(comparison: Comparison) -> Table:
    """Return every row with its error and its phases."""
    return Table.of(
        "",
        ["key", ">predicted GiB", ">measured GiB", ">error", "phase", "measured phase"],
        (
            (row.key, gib(row.predicted), gib(row.measured), percent(row.error, 3, "+"), row.phase, _phase(row))
            for row in comparison.rows
        ),
    )


def _phase(row: Row) -> str:
    told = row.measured_phase or "-"
    return told if row.phase_agrees is not False else f"{told} (!)"


def refused_table(comparison: Comparison) -> Table:
    """Return the cases without a prediction, each with why."""
    return Table.of("Refused", ["key", "why"], ((r.key, r.message.replace("\n", "; ")) for r in comparison.refused))


def summary_table(summary: Summary) -> Table:
    """Return how far the predictions are off."""
    return Table.of("Summary", ["what", ">value", ""], _told(summary))


def _told(summary: Summary) -> Iterator[tuple[str, str, str]]:
    yield "rows", str(summary.rows), f"{summary.refused} refused" if summary.refused else ""
    yield "median |error|", percent(summary.median_error, 3), ""
    yield "within 1 %", percent(summary.within_1_percent, 1), ""
    yield "worst", percent(summary.worst_error, 2, "+"), summary.worst_key or ""
    yield "phase right", percent(summary.phase_right, 1), "or measured within 0.5 % of the maximum"
    if summary.phases:
        yield "phases within 5 %", percent(summary.phases_within_5_percent, 1), f"of {summary.phases}"
        every = summary.rows_with_all_phases_within_5_percent
        yield "every phase within 5 %", percent(every, 1), "of the rows with phases"
        yield "worst phase", percent(summary.worst_phase_error, 2, "+"), summary.worst_phase_key or ""
