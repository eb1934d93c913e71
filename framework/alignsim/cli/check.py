"""``alignsim check``: whether the run of a file fits, for people and for job queues."""

from __future__ import annotations

from typing import Any

import click

from alignsim.cli.failures import NO
from alignsim.cli.options import json_option, plugin_option
from alignsim.cli.state import State

UNSURE = "the file names no accelerator with a known memory: nobody can say whether it fits"


@click.command("check")
@click.argument("file", type=click.Path())
@json_option
@click.option("--strict", is_flag=True, help="Exit with 1 as well where nothing says that it fits for sure.")
@plugin_option
@click.pass_context
def command(ctx: click.Context, /, file: str, as_json: bool, strict: bool) -> None:
    """Say whether the run that FILE describes fits; FILE is YAML or JSON.

    Exit status: 0 it fits, or is a close call, with a warning; 1 it does not; 2 the file is wrong.

    \b
    alignsim check run.yaml
    alignsim check run.yaml --json
    """  # noqa: D301 - click wants the backspace itself
    from alignsim.cli.answers import plain_answer, show_answer, unsure, verdict
    from alignsim.cli.asking import Asked
    from alignsim.cli.output import show_json, show_lines
    from alignsim.runs import read_run

    run: Any = read_run(file, ctx.ensure_object(State).registry)
    asked = Asked(run, (), run.left_out)
    answer = run.result
    fits, told = verdict(answer)
    if as_json:
        show_json(plain_answer(answer))
    else:
        show_answer(asked, answer, told)
        show_lines([] if told else [UNSURE])
    if unsure(answer) and not as_json:
        click.echo(f"warning: {answer.verdict.status}", err=True)
    if fits is False or (strict and fits is None):
        ctx.exit(NO)
