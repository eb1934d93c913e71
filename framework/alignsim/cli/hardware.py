"""``alignsim hardware``: accelerators and machines, every number with its source."""

from __future__ import annotations

import click

from alignsim.cli.options import json_option, named, plugin_option
from alignsim.cli.state import State
from alignsim.errors import UnknownName

SCHEMA = "alignsim.hardware/1"
DETECT = "detect"


@click.command("hardware")
@named("accelerators", "nodes")
@json_option
@plugin_option
@click.pass_context
def command(ctx: click.Context, /, name: str | None, as_json: bool) -> None:
    """List accelerators and machines, or show NAME with the source of every number.

    With the word ``detect`` as NAME, show the devices of this machine, and what the catalogue calls them.
    """
    from alignsim.cli.output import show, show_json
    from alignsim.views.catalogues import accelerators_table, fields_with_sources, machines_table
    from alignsim.views.plain import described

    registry = ctx.ensure_object(State).registry
    if name == DETECT:
        from alignsim.cli.detecting import SCHEMA as DETECTED
        from alignsim.cli.detecting import seen, seen_table

        found = seen(registry)
        if as_json:
            show_json({"schema": DETECTED, "devices": [each.to_dict(registry) for each in found]})
        else:
            show(seen_table(found, registry))
        return
    devices, machines = registry.accelerators, registry.nodes
    if name is None:
        if as_json:
            listed = [described(each) for each in devices.values()]
            show_json({"schema": SCHEMA, "accelerators": listed, "machines": [described(m) for m in machines.values()]})
        else:
            show(accelerators_table(devices.values()), machines_table(machines.values()))
        return
    item = devices.get(name) or machines.get(name)
    if item is None:
        raise UnknownName("accelerator or machine", name, [*devices, *machines], devices.note or machines.note)
    if as_json:
        show_json({"schema": SCHEMA, "kind": type(item).__name__.lower(), **described(item)})
    else:
        show(*fields_with_sources(item))
