"""``alignsim presets``: what frameworks do by default, by version."""

from __future__ import annotations

import click

from alignsim.cli.options import json_option, named, plugin_option
from alignsim.cli.state import State

SCHEMA = "alignsim.presets/1"


@click.command("presets")
@named("presets")
@json_option
@plugin_option
@click.pass_context
def command(ctx: click.Context, /, name: str | None, as_json: bool) -> None:
    """List the frameworks whose defaults are known, or show NAME with every default and where it was read."""
    from alignsim.cli.output import show, show_json
    from alignsim.views.plain import described
    from alignsim.views.presets import preset_tables, presets_table

    presets = ctx.ensure_object(State).registry.presets
    if name is None:
        if as_json:
            told = [described(each, "choices") for each in presets.values()]
            show_json({"schema": SCHEMA, "presets": told})
        else:
            show(presets_table(presets.values()))
        return
    preset = presets[name]
    if as_json:
        choices = [
            {**described(c), "givens": {p: described(n.as_given()) for p, n in c.givens.items()}}
            for c in preset.choices
        ]
        show_json({"schema": SCHEMA, **described(preset), "choices": choices})
    else:
        show(*preset_tables(preset))
