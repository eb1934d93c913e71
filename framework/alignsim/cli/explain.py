"""``alignsim explain``: where a number comes from."""

from __future__ import annotations

from typing import Any

import click

from alignsim.cli.options import case_options, complete, json_option, plugin_option
from alignsim.cli.state import State
from alignsim.errors import InvalidInput

SCHEMA = "alignsim.explanation/1"


@click.command("explain")
@click.argument("words", nargs=-1, metavar="[SCENARIO] [PATH]", shell_complete=complete("scenarios"))
@click.option("--depth", type=click.IntRange(min=0), metavar="N", help="Go back so many steps, not all.")
@case_options
@json_option
@plugin_option
@click.pass_context
def command(ctx: click.Context, /, words: tuple[str, ...], depth: int | None, as_json: bool, **flags: Any) -> None:
    """Explain the value at PATH: its formula, what went in, and where that is from.

    Without PATH, the answer as a whole is explained. A single word that names a scenario is one.

    \b
    alignsim explain ppo_total
    alignsim explain Llama2_70B_PpoAlignment policy.kv_cache --depth 1
    alignsim explain --algorithm PPO update:policy/loss.allocated
    """  # noqa: D301 - click wants the backspace itself
    from alignsim.cli.asking import ask
    from alignsim.cli.output import show_json

    if len(words) > 2:
        raise click.UsageError("name a scenario and a value, such as ppo_total, or one of them", ctx)
    registry = ctx.ensure_object(State).registry
    named = len(words) == 2 or (len(words) == 1 and words[0] in registry.scenarios)
    scenario = words[0] if words and named else None
    path = words[1:] if named else words
    question = ask(registry, scenario, flags).question
    explain = getattr(question.result, "explain", None)
    if explain is None:
        raise InvalidInput(f"the answer to {question.name} has no explanations")
    explanation = explain(*path, depth=depth)
    if as_json:
        show_json({"schema": SCHEMA, "scenario": question.name, "explanation": explanation.to_dict()})
    else:
        click.echo(str(explanation))
