"""``alignsim run``: the answer to a scenario."""

from __future__ import annotations

from typing import Any

import click

from alignsim.cli.failures import NO
from alignsim.cli.options import case_options, complete, json_option, plugin_option
from alignsim.cli.state import State


@click.command("run")
@click.argument("scenario", required=False, shell_complete=complete("scenarios"))
@case_options
@json_option
@click.option("--instants", is_flag=True, help="Also show a run from instant to instant.")
@click.option("--strict", is_flag=True, help="Also end with 1 where it is not sure that it fits.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; the exit status is the answer.")
@plugin_option
@click.pass_context
def command(
    ctx: click.Context, /, scenario: str | None, as_json: bool, instants: bool, strict: bool, quiet: bool, **flags: Any
) -> None:
    """Answer SCENARIO: whether it fits, and what fills the memory.

    Without SCENARIO, the reference case is answered: PPO against DPO with Llama-2-70B. Options change the scenario.
    The exit status is 0 where it fits, and where it is a close call, with a warning; 1 where it does not fit; 2 where
    the question is wrong.

    With --algorithm the answer is that of one run, phase by phase. Options that choose components or a batch, such as
    --component and --micro-batch, describe a run of their own, and nothing is taken from the reference case.

    \b
    alignsim run
    alignsim run --policy Llama-3.1-8B --tensor 4 --pipeline 1 --gpus 8xH100-SXM5-80GB
    alignsim run --algorithm SFT --policy Llama-3.2-1B --micro-batch 4 --sequence-tokens 2048 -c engine=single-device \
      -c precision=bf16 -c optimizer=adamw-fused -c adapter=full -c recompute=full -c attention=flash \
      -c packing=padded -c loss=cross-entropy -c layers=transformers
    """  # noqa: D301 - click wants the backspace itself
    from alignsim.cli.answers import plain_answer, show_answer, unsure, verdict
    from alignsim.cli.asking import ask
    from alignsim.cli.output import show_json

    asked = ask(ctx.ensure_object(State).registry, scenario, flags)
    answer = asked.question.result
    fits, told = verdict(answer)
    if as_json and not quiet:
        show_json(plain_answer(answer))
    elif not quiet:
        show_answer(asked, answer, told, instants=instants)
    if unsure(answer) and not (as_json or quiet):
        click.echo(f"warning: {answer.verdict.status}", err=True)
    if fits is False or (strict and unsure(answer)):
        ctx.exit(NO)
