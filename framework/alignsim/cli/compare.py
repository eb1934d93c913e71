"""``alignsim compare``: predictions against what was measured of described runs."""

from __future__ import annotations

import click

from alignsim.cli.comparing import compared, finish, max_error_option
from alignsim.cli.options import json_option, plugin_option
from alignsim.cli.state import State


@click.command("compare")
@click.argument("file", type=click.Path(), metavar="FILE.json")
@max_error_option
@json_option
@plugin_option
@click.pass_context
def command(ctx: click.Context, /, file: str, max_error: float | None, as_json: bool) -> None:
    r"""Predict every run of FILE.json, and compare with what was measured of it.

    A run that is wrong is told of, and the others are predicted; exits with 2 then, and with 1 if not a single run
    could be predicted.

    \b
    {"runs": [{"key": "my run",
               "scenario": {"algorithm": "SFT", "models": {"policy": "Llama-3.1-8B"}, ...},
               "measured": {"peak": "61.2 GiB"}}]}
    """
    from alignsim.runfile import cases

    registry = ctx.ensure_object(State).registry
    finish(ctx, compared(file, lambda data: cases(data, registry)), as_json, max_error)
