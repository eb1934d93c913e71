"""``alignsim compare``: predictions against what was measured of described runs."""

from __future__ import annotations

import click

from alignsim.cli.comparing import max_error_option, show_comparison
from alignsim.cli.failures import NO
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

    \b
    {"runs": [{"key": "my run",
               "scenario": {"algorithm": "SFT", "models": {"policy": "Llama-3.1-8B"}, ...},
               "measured": {"peak": "61.2 GiB"}}]}
    """
    from alignsim.jsonfile import read_json
    from alignsim.runfile import cases
    from alignsim.validation import compare

    comparison = compare(cases(read_json(file), ctx.ensure_object(State).registry))
    show_comparison(comparison, as_json)
    if max_error is not None and comparison.exceeds(max_error):
        ctx.exit(NO)
