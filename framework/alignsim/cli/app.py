"""The group of all commands. A built-in one is imported when it is named; plugins are asked when nothing else will do.

Help lists the commands of plugins as well, but only where a distribution other than ours is installed for us, or a file
is named by ``--plugin``: otherwise there are none, and help loads nothing. Plugins cannot take the place of a built-in.
"""

from __future__ import annotations

from importlib import import_module

import click

from alignsim import __version__
from alignsim.cli.options import plugin_option
from alignsim.cli.state import COMMANDS, State
from alignsim.errors import suggestion


class Commands(click.Group):
    """Finds a command by name: ours first, then those of plugins."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names that help shows."""
        state = ctx.ensure_object(State)
        offered = state.registry.commands if state.third_parties() else {}
        return [*COMMANDS, *(name for name in offered if name not in COMMANDS)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None where nothing has that name."""
        if cmd_name in COMMANDS:
            command: click.Command = import_module(f"alignsim.cli.{cmd_name}").command
            return command
        return ctx.ensure_object(State).registry.commands.get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments begin with; say what is near where there is none."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            commands = ctx.ensure_object(State).registry.commands
            note = f"\n{commands.note}" if commands.note else ""
            ctx.fail(f"no command {name!r}; {suggestion(name, [*COMMANDS, *commands])}{note}")
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="alignsim")
@plugin_option
def app() -> None:
    """Say whether an alignment run fits, what fills the memory, and when.

    Exit status: 0 answered, 1 the answer is no, 2 wrong usage or input, 3 unknown name or broken plugin, 70 a fault of
    ours.
    """
