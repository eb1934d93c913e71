"""A table as plain data. It renders as text and as Markdown by itself; the command line draws it on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import attrs


@attrs.frozen
class Column:
    """A heading, and the side that its cells are aligned to."""

    name: str
    align: Literal["left", "right"] = "left"


@attrs.frozen(kw_only=True)
class Table:
    """Rows of text under headings.

    Attributes:
        title: one line above it.
        columns: the headings.
        rows: as many cells as there are columns in each.
        notes: lines below it.

    >>> print(Table.of("Stock", ["what", ">count"], [("apples", 12), ("pears", 3)]))
    Stock
    what    count
    apples     12
    pears       3
    """

    title: str = ""
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, title: str, columns: Iterable[str], rows: Iterable[Iterable[Any]], notes: Iterable[str] = ()) -> Table:
        """Return a table; a heading that begins with ``>`` is aligned to the right. Cells become text, None nothing."""
        heads = tuple(Column(c.removeprefix(">"), "right" if c.startswith(">") else "left") for c in columns)
        cells = tuple(tuple("" if cell is None else str(cell) for cell in row) for row in rows)
        return cls(title=title, columns=heads, rows=cells, notes=tuple(notes))

    @property
    def heading(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def lines(self) -> Iterator[str]:
        """Yield the table as text, columns padded to their widest cell."""
        if self.title:
            yield self.title
        shown = [self.heading, *self.rows] if any(self.heading) else list(self.rows)
        widths = [max((len(row[at]) for row in shown), default=0) for at in range(len(self.columns))]
        for row in shown:
            cells = (
                cell.rjust(width) if column.align == "right" else cell.ljust(width)
                for cell, width, column in zip(row, widths, self.columns, strict=True)
            )
            yield "  ".join(cells).rstrip()
        yield from self.notes

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def markdown(self) -> str:
        """Return the table as Markdown."""

        def line(cells: Iterable[str]) -> str:
            return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

        rule = line("---:" if column.align == "right" else "---" for column in self.columns)
        table = "\n".join([line(self.heading), rule, *map(line, self.rows)])
        return "\n\n".join(part for part in (self.title, table, "\n".join(self.notes)) if part)
