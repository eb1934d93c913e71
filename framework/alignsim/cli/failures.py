"""How a command line ends: exit statuses, and errors as text or as JSON on standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from alignsim.errors import AlignSimError, InvalidInput, PluginError, UnknownName, near

ANSWERED, NO, WRONG_INPUT, UNKNOWN, OUR_FAULT, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 70, 130, 141
SCHEMA = "alignsim.error/1"
DEBUG = "ALIGNSIM_DEBUG"


def guarded(run: Callable[[], None], *, as_json: bool, warnings: Callable[[], list[str]]) -> int:
    """Run a command and return its exit status; whatever it raises is told on standard error."""
    try:
        run()
        status = ANSWERED
    except click.exceptions.Exit as stop:
        status = stop.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        return _without_reader()
    except Exception as error:
        status = status_of(error)
        _tell(error, status, as_json)
    try:
        if status in (ANSWERED, NO) and not as_json:
            for warning in warnings():
                click.echo(f"warning: {warning}", err=True)
        sys.stdout.flush()
    except BrokenPipeError:
        return _without_reader()
    return status


def status_of(error: BaseException) -> int:
    """Return the exit status that an error ends with."""
    if isinstance(error, UnknownName | PluginError):
        return UNKNOWN
    return WRONG_INPUT if isinstance(error, AlignSimError | click.ClickException) else OUR_FAULT


def problems_of(error: BaseException) -> list[dict[str, Any]]:
    """Return all that an error says is wrong, as plain data."""
    if isinstance(error, InvalidInput):
        return [
            {"field": p.field, "message": p.message, "origin": str(p.origin) if p.origin else None}
            | ({"file": p.origin.file, "line": p.origin.line, "column": p.origin.column} if p.origin else {})
            for p in error.problems
        ]
    found: dict[str, Any] = {"field": "", "message": str(error), "origin": None}
    if isinstance(error, UnknownName):
        found |= {"field": error.kind, "name": error.name, "suggestions": near(error.name, error.known)}
    if isinstance(error, click.ClickException):
        parameter = getattr(error, "option_name", None) or getattr(getattr(error, "param", None), "opts", [""])[0]
        found |= {"field": parameter, "message": error.format_message()}
    return [found]


def _tell(error: Exception, status: int, as_json: bool) -> None:
    if os.environ.get(DEBUG):
        import traceback

        traceback.print_exception(error)
    if as_json:
        told = {"type": type(error).__name__, "exit": status, "problems": problems_of(error)}
        if status == OUR_FAULT:
            told["problems"] = [{"field": "", "message": _fault(error), "origin": _where(error)}]
        click.echo(json.dumps({"schema": SCHEMA, "error": told}, indent=2), err=True)
    elif isinstance(error, click.ClickException):
        error.show(sys.stderr)
    elif status == OUR_FAULT:
        click.echo(f"internal error: {_fault(error)}", err=True)
        click.echo(f"Please report it, with the command and what it prints when {DEBUG}=1 is set.", err=True)
    else:
        for line in str(error).splitlines():
            click.echo(f"error: {_printable(line)}", err=True)


def _printable(line: str) -> str:
    """Return a line that any terminal takes: a file may name half a character."""
    return line.encode("utf-8", "backslashreplace").decode()


def _fault(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ") + f" ({_where(error)})"


def _where(error: Exception) -> str:
    """The line that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""


def _without_reader() -> int:
    """The reader has gone: write nothing more, not even at the end of the process."""
    with suppress(OSError, ValueError):  # a stream that is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED
