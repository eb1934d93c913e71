"""``alignsim components``: the fillings of every slot."""

from __future__ import annotations

import click

from alignsim.cli.options import json_option, named, plugin_option
from alignsim.cli.state import State

SCHEMA = "alignsim.components/1"


@click.command("components")
@named("components")
@json_option
@plugin_option
@click.pass_context
def command(ctx: click.Context, /, name: str | None, as_json: bool) -> None:
    """List the components of all slots, or show NAME (spelt slot:name) with its formulas and defaults."""
    from alignsim.cli.output import show, show_json
    from alignsim.views.catalogues import component_tables, components_table
    from alignsim.views.plain import described

    components = ctx.ensure_object(State).registry.components
    if name is None:
        if as_json:
            show_json({"schema": SCHEMA, "components": [described(each) for each in components.values()]})
        else:
            show(components_table(components.values()))
        return
    component = components[name]
    if as_json:
        defaults = {each: described(constant) for each, constant in component.defaults.items()}
        show_json({"schema": SCHEMA, **described(component), "slot": described(component.slot), "defaults": defaults})
    else:
        show(*component_tables(component))
