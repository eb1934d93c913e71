"""Options that several commands share, and the completion of names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from alignsim.cli.state import State
from alignsim.discovery import load_file

Decorator = Callable[[Any], Any]


def _load(ctx: click.Context, _: click.Parameter, paths: tuple[str, ...]) -> None:
    state = ctx.ensure_object(State)
    state.files += [load_file(path) for path in paths]


plugin_option: Decorator = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    metavar="FILE.py",
    expose_value=False,
    is_eager=True,
    callback=_load,
    help="Also use the plugin in this file; may be repeated.",
)
json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="Print JSON, and errors as JSON too.")


def complete(*catalogues: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a completion of the names in some catalogues of the registry."""

    def names(ctx: click.Context, _: click.Parameter, begun: str) -> list[str]:
        try:
            registry = ctx.ensure_object(State).registry
            known = [name for catalogue in catalogues for name in getattr(registry, catalogue)]
        except Exception:  # a completion that fails is no completion
            return []
        return [name for name in known if name.casefold().startswith(begun.casefold())]

    return names


def named(catalogue: str, *more: str) -> Decorator:
    """Add an optional argument for a name in a catalogue."""
    return click.argument("name", required=False, shell_complete=complete(catalogue, *more))


def _fillings(ctx: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Complete ``SLOT=NAME``."""
    try:
        known = [key.replace(":", "=", 1) for key in ctx.ensure_object(State).registry.components]
    except Exception:  # as above
        return []
    return [choice for choice in known if choice.startswith(begun)]


_CASE: tuple[Decorator, ...] = (
    click.option("--policy", metavar="MODEL", shell_complete=complete("architectures"), help="The model to align."),
    click.option(
        "--critic",
        metavar="MODEL",
        shell_complete=complete("architectures"),
        help="The model of critic and reward; the policy's unless given.",
    ),
    click.option("--tensor", type=int, metavar="N", help="Tensor-parallel ranks."),
    click.option("--pipeline", type=int, metavar="N", help="Pipeline stages."),
    click.option("--sequence", type=int, metavar="N", help="Ranks that share the tokens of every sequence (Ulysses)."),
    click.option("--data", type=int, metavar="N", help="Data-parallel replicas."),
    click.option(
        "--spread",
        multiple=True,
        metavar="NAME=VALUE",
        help="More of the layout, such as context=2, expert=8 or sequence_parallel=true. May be repeated.",
    ),
    click.option(
        "-c",
        "--component",
        multiple=True,
        metavar="SLOT=NAME",
        shell_complete=_fillings,
        help="A choice of the run, such as loss=cross-entropy; or of one role, critic.loss=score. May be repeated.",
    ),
    click.option(
        "--preset",
        metavar="NAME",
        shell_complete=complete("presets"),
        help="A framework whose defaults are in force where nothing is said, such as trl; see alignsim presets.",
    ),
    click.option(
        "--micro-batch", type=int, metavar="N", help="Samples of one forward and backward; a pair is one sample."
    ),
    click.option("--sequence-tokens", type=int, metavar="N", help="Tokens of a row, prompt and completion."),
    click.option("--prompt-tokens", type=int, metavar="N", help="Tokens of the prompt among them."),
    click.option("--accumulation-steps", type=int, metavar="N", help="Micro-batches before a step of the optimizer."),
    click.option(
        "--set",
        "number",
        multiple=True,
        metavar="PATH=NUMBER",
        help="A number set on purpose, such as policy.lora_rank=64. May be repeated.",
    ),
    click.option(
        "--real-lengths",
        "lengths",
        multiple=True,
        metavar="NAME=TOKENS[,...]",
        help="How long sequences really are, such as mean=900,p99=3800,maximum=4096.",
    ),
    click.option("--rollout-sequences", type=int, metavar="N", help="Sequences generated together."),
    click.option("--rollout-tokens", type=int, metavar="N", help="Tokens cached for each of them."),
    click.option("--device-memory", metavar="AMOUNT", help="Memory of one device with its unit, such as '80 GB'."),
    click.option(
        "--gpus",
        metavar="COUNTxNAME",
        help="The devices, such as 256xH100-SXM5-80GB: sets their memory, and how many replicas there are.",
    ),
    click.option(
        "--algorithm",
        metavar="NAME",
        shell_complete=complete("algorithms"),
        help="Answer for a run of this algorithm, phase by phase.",
    ),
)


def case_options(function: Any) -> Any:
    """Add the options that change a scenario."""
    for option in reversed(_CASE):
        function = option(function)
    return function
