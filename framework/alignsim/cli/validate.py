"""``alignsim validate``: predictions against measurements of a kind that a plugin knows."""

from __future__ import annotations

import click

from alignsim.cli.comparing import max_error_option, show_comparison
from alignsim.cli.failures import NO
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

    \b
    alignsim validate --source tensor-traces tensor_traces.json
    """
    from alignsim.jsonfile import read_json
    from alignsim.validation import compare

    validation = ctx.ensure_object(State).registry.validations[source]
    comparison = compare(validation.cases(read_json(file)))
    show_comparison(comparison, as_json)
    if max_error is not None and comparison.exceeds(max_error):
        ctx.exit(NO)
