"""``alignsim scenarios``: the questions that plugins offer by name."""

from __future__ import annotations

from typing import Any

import attrs
import click

from alignsim.cli.options import json_option, named, plugin_option
from alignsim.cli.state import State

SCHEMA = "alignsim.scenarios/1"


@click.command("scenarios")
@named("scenarios")
@json_option
@plugin_option
@click.pass_context
def command(ctx: click.Context, /, name: str | None, as_json: bool) -> None:
    """List scenarios, or show what NAME asks."""
    from alignsim.cli.output import show, show_json
    from alignsim.views.answer import asked
    from alignsim.views.catalogues import scenarios_table

    scenarios = ctx.ensure_object(State).registry.scenarios
    if name is None:
        if as_json:
            show_json({"schema": SCHEMA, "scenarios": [_plain(each) for each in scenarios.values()]})
        else:
            show(scenarios_table(scenarios.values()))
        return
    scenario = scenarios[name]
    if as_json:
        show_json({"schema": SCHEMA, **_plain(scenario)})
    else:
        click.echo(asked(scenario))
        click.echo(f"asks for: {', '.join(scenario.outputs)}")


def _plain(scenario: Any) -> dict[str, Any]:
    from alignsim.views.plain import described

    fields = described(scenario, "registry") if attrs.has(type(scenario)) else {"name": scenario.name}
    return {"kind": type(scenario).__name__, **fields}
