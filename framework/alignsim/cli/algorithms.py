"""``alignsim algorithms``: who does what when."""

from __future__ import annotations

import click

from alignsim.cli.options import json_option, named, plugin_option
from alignsim.cli.state import State

SCHEMA = "alignsim.algorithms/1"


@click.command("algorithms")
@named("algorithms")
@json_option
@plugin_option
@click.pass_context
def command(ctx: click.Context, /, name: str | None, as_json: bool) -> None:
    """List alignment algorithms, or show NAME as its table of phases and roles."""
    from alignsim.cli.output import show, show_json
    from alignsim.views.catalogues import algorithm_table, algorithms_table
    from alignsim.views.plain import described

    algorithms = ctx.ensure_object(State).registry.algorithms
    if name is None:
        if as_json:
            show_json({"schema": SCHEMA, "algorithms": [described(each) for each in algorithms.values()]})
        else:
            show(algorithms_table(algorithms.values()))
        return
    algorithm = algorithms[name]
    if as_json:
        show_json({"schema": SCHEMA, **described(algorithm), "roles": list(algorithm.roles)})
    else:
        show(algorithm_table(algorithm))
