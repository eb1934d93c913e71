"""``alignsim plugins``: what was found, what it offers, and what went wrong with it."""

from __future__ import annotations

import click

from alignsim.cli.options import json_option, plugin_option
from alignsim.cli.state import COMMANDS, State
from alignsim.errors import UnknownName

SCHEMA = "alignsim.plugins/1"


@click.command("plugins")
@click.argument("name", required=False)
@json_option
@plugin_option
@click.pass_context
def command(ctx: click.Context, /, name: str | None, as_json: bool) -> None:
    """List plugins with what each offers, or only those of NAME: a plugin, or a distribution."""
    from alignsim.cli.output import show, show_json
    from alignsim.views.catalogues import plugins_table
    from alignsim.views.plain import described

    registry = ctx.ensure_object(State).registry
    reports = registry.plugins
    hidden = [name for name in registry.commands if name in COMMANDS]
    if name is not None:
        everything, reports = reports, tuple(r for r in reports if name in (r.provider.plugin, r.provider.distribution))
        if not reports:
            known = {spelling for r in everything for spelling in (r.provider.plugin, r.provider.distribution)}
            raise UnknownName("plugin or distribution", name, known)
    if as_json:
        listed = [{**described(report.provider), **described(report, "provider")} for report in reports]
        show_json({"schema": SCHEMA, "plugins": listed})
    else:
        show(plugins_table(reports))
        for command_name in hidden:
            origin = registry.commands.origin(command_name)
            click.echo(f"command {command_name} of {origin} is not reachable: alignsim has one of that name", err=True)
