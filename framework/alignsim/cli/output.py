"""Writing to standard output: tables drawn by rich on a terminal, plain text otherwise, and clean JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

import click

from alignsim.views.table import Table


def show(*tables: Table) -> None:
    """Write tables; those without rows are left out."""
    for table in tables:
        if not table.rows:
            continue
        if sys.stdout.isatty():
            _draw(table)
        else:
            click.echo(f"{table}")
        click.echo()


def show_json(content: Any) -> None:
    """Write one JSON document."""
    click.echo(json.dumps(content, indent=2, allow_nan=False))


def show_lines(lines: Iterable[str]) -> None:
    """Write lines, and an empty one after them if there are any."""
    shown = list(lines)
    for line in shown:
        click.echo(line)
    if shown:
        click.echo()


def _draw(table: Table) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as Drawn
    from rich.text import Text

    drawn = Drawn(title=Text(table.title) if table.title else None, title_justify="left", box=box.SIMPLE_HEAD)
    drawn.show_header = any(table.heading)
    for column in table.columns:
        drawn.add_column(column.name, justify=column.align, no_wrap=column.align == "right", overflow="fold")
    for row in table.rows:
        drawn.add_row(*map(Text, row))
    console = Console(highlight=False)
    console.print(drawn)
    for note in table.notes:
        console.print(Text(note))
