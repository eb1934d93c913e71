"""``alignsim models``: model architectures, with their parameters counted part by part."""

from __future__ import annotations

import click

from alignsim.cli.options import json_option, named, plugin_option
from alignsim.cli.state import State

SCHEMA = "alignsim.models/1"


@click.command("models")
@named("architectures")
@json_option
@plugin_option
@click.pass_context
def command(ctx: click.Context, /, name: str | None, as_json: bool) -> None:
    """List model architectures, or show the shape of NAME and its parameters by part."""
    from alignsim.cli.counts import parameter_counts, total
    from alignsim.cli.output import show, show_json
    from alignsim.views.catalogues import architectures_table, counts_table, shape_table
    from alignsim.views.plain import described

    registry = ctx.ensure_object(State).registry
    models = registry.architectures
    if name is None:
        counted = [(model, total(parameter_counts(model, registry))) for model in models.values()]
        if as_json:
            listed = [{**described(model), "counted_parameters": number} for model, number in counted]
            show_json({"schema": SCHEMA, "models": listed})
        else:
            show(architectures_table(counted))
        return
    model = models[name]
    counts = parameter_counts(model, registry)
    if as_json:
        by_part = {count.name: count.value for count in counts}
        show_json({"schema": SCHEMA, **described(model), "counted_parameters": total(counts), "counts": by_part})
    else:
        show(shape_table(model), counts_table((c.name, c.value, c.source or c.about) for c in counts))
