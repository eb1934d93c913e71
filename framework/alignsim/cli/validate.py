"""``alignsim validate``: predictions against measurements of a kind that a plugin knows."""

from __future__ import annotations

import click

from alignsim.cli.comparing import compared, finish, max_error_option
from alignsim.cli.options import complete, json_option, plugin_option
from alignsim.cli.state import State


@click.command("validate")
@click.argument("file", type=click.Path(), metavar="FILE.json")
@click.option(
    "--source",
    required=True,
    metavar="NAME",
    shell_complete=complete("validations"),
    help="What kind of measurements the file has.",
)
@max_error_option
@json_option
@plugin_option
@click.pass_context
def command(ctx: click.Context, /, file: str, source: str, max_error: float | None, as_json: bool) -> None:
    r"""Predict every row of FILE.json, and compare with what was measured.

    A row that is wrong is told of, and the others are predicted; exits with 2 then, and with 1 if not a single row
    could be predicted.

    \b
    alignsim validate --source tensor-traces tensor_traces.json
    """
    validation = ctx.ensure_object(State).registry.validations[source]
    finish(ctx, compared(file, validation.cases), as_json, max_error)
