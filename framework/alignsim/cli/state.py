"""What the parts of one command line share: the plugins that it names, and the registry made of all."""

from __future__ import annotations

from functools import cached_property
from types import ModuleType

from alignsim.registry import Registry, default_registry

COMMANDS = (
    "run",
    "check",
    "explain",
    "graph",
    "validate",
    "compare",
    "hardware",
    "models",
    "algorithms",
    "components",
    "presets",
    "scenarios",
    "plugins",
)
"""The commands of alignsim itself, in the order of the help."""


class State:
    """One command line's registry. Plugins are only looked for when a command asks."""

    def __init__(self) -> None:
        self.files: list[ModuleType] = []

    @cached_property
    def registry(self) -> Registry:
        """All installed plugins, and the files of ``--plugin``."""
        installed = default_registry()
        return installed.with_plugins(*self.files) if self.files else installed

    def third_parties(self) -> bool:
        """Whether there may be commands that are not ours: a look at what is installed, without loading any of it."""
        from importlib.metadata import entry_points

        points = entry_points(group="alignsim")
        return bool(self.files) or any(point.dist is None or point.dist.name != "alignsim" for point in points)

    def warnings(self) -> list[str]:
        """What went wrong with plugins, if any have been looked at."""
        if "registry" not in vars(self):
            return []
        return [str(failure) for failure in self.registry.failures]
