"""``alignsim graph``: the dependencies behind an answer, for others to draw."""

from __future__ import annotations

from typing import Any

import click

from alignsim.cli.options import case_options, complete, json_option, plugin_option
from alignsim.cli.state import State

SCHEMA = "alignsim.graph/1"


@click.command("graph")
@click.argument("scenario", required=False, shell_complete=complete("scenarios"))
@click.option("--output", metavar="PATH", help="Only what this value needs.")
@click.option("--format", "form", type=click.Choice(["mermaid", "dot"]), default="mermaid", show_default=True)
@click.option("--values", "with_values", is_flag=True, help="Show every value.")
@case_options
@json_option
@plugin_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    scenario: str | None,
    output: str | None,
    form: str,
    with_values: bool,
    as_json: bool,
    **flags: Any,
) -> None:
    """Print the dependency graph of SCENARIO as Mermaid or DOT.

    \b
    alignsim graph --output policy.kv_cache --values
    alignsim graph --algorithm DPO --format dot | dot -Tsvg > dpo.svg
    """  # noqa: D301 - click wants the backspace itself
    from alignsim.cli.asking import ask
    from alignsim.cli.output import show_json
    from alignsim.plan import Plan
    from alignsim.views.diagram import Diagram

    question = ask(ctx.ensure_object(State).registry, scenario, flags).question
    graph = question.graph
    outputs = question.outputs if output is None else (_path(question, output),)
    paths = graph.needed(outputs)
    values = Plan.of(graph, paths).evaluate() if with_values or as_json else None
    if as_json and values is not None:
        nodes = [
            {"path": p, "kind": graph.nodes[p].kind, "unit": graph.nodes[p].unit, "value": values[p]} for p in paths
        ]
        edges = [[source, path] for path in paths for source in dict.fromkeys(graph.nodes[path].inputs)]
        show_json({"schema": SCHEMA, "scenario": question.name, "nodes": nodes, "edges": edges})
        return
    diagram = Diagram.of(graph, paths, values)
    click.echo(diagram.dot() if form == "dot" else diagram.mermaid())


def _path(question: Any, output: str) -> str:
    """The path of a value; an answer may have names of its own for some."""
    explain = getattr(question.result, "explain", None)
    return str(explain(output, 0).node.path) if explain else str(question.graph.resolve(output))
