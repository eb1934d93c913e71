"""``alignsim models``: model architectures, with their parameters counted part by part."""

from __future__ import annotations

from typing import Any

import click

from alignsim.cli.options import json_option, named, plugin_option
from alignsim.cli.state import State

SCHEMA = "alignsim.models/1"
NEW = "new"


@click.command("models")
@named("architectures")
@click.argument("model_type", required=False)
@json_option
@plugin_option
@click.pass_context
def command(ctx: click.Context, /, name: str | None, model_type: str | None, as_json: bool) -> None:
    """List model architectures, or show the shape of NAME and its parameters by part.

    NAME may be a path: a config.json or its folder, safetensors or their index, an adapter_config.json. With the name
    ``new``, a plugin is printed that teaches MODEL_TYPE; fill it in.

    \b
    alignsim models Llama-3.1-8B
    alignsim models ./my-model/config.json
    alignsim models new acme > acme.py
    """  # noqa: D301 - click wants the backspace itself
    from alignsim.cli.output import show, show_json
    from alignsim.counts import parameter_counts, total
    from alignsim.views.catalogues import architectures_table
    from alignsim.views.plain import described

    registry = ctx.ensure_object(State).registry
    if name == NEW:
        from alignsim.cli.new_family import template

        click.echo(template(model_type or "acme"), nl=False)
        return
    if model_type is not None:
        raise click.UsageError(f"one name at a time; what is {model_type!r} beside {name!r}?")
    if name is not None:
        _show(registry, name, as_json)
        return
    counted = [(model, total(parameter_counts(model, registry))) for model in registry.architectures.values()]
    if as_json:
        listed = [{**described(model), "counted_parameters": number} for model, number in counted]
        show_json({"schema": SCHEMA, "models": listed})
    else:
        show(architectures_table(counted))


def _show(registry: Any, name: str, as_json: bool) -> None:
    from alignsim.cli.output import show, show_json, show_lines
    from alignsim.counts import parameter_counts, total
    from alignsim.reader import Found
    from alignsim.views.catalogues import component_tables, counts_table, read_from_table, shape_table, stored_table
    from alignsim.views.plain import described, plain

    known = registry.architectures
    found = None
    if name not in known:
        found = registry.read("components", name) or registry.read("architectures", name)
    found = found or Found(known[name])
    beside = {"notes": list(found.notes), "stored": [described(each) for each in found.stored]}
    if found.item is None:
        told: dict[str, Any] = {"name": None}
        tables = []
    elif "slot" in dir(found.item):
        defaults = {name: plain(constant.as_given()) for name, constant in found.item.defaults.items()}
        told = {"name": found.item.name, "slot": found.item.slot.name, "defaults": defaults}
        tables = [*component_tables(found.item)]
    else:
        counts = parameter_counts(found.item, registry)
        by_part = {count.name: count.value for count in counts}
        told = {**described(found.item), "counted_parameters": total(counts), "counts": by_part}
        tables = [
            shape_table(found.item),
            counts_table((c.name, c.value, c.source or c.about) for c in counts),
            read_from_table(found.item),
        ]
    if as_json:
        show_json({"schema": SCHEMA, **told, **beside})
    else:
        show(*tables, stored_table(found.stored))
        show_lines(found.notes)
