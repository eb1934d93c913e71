"""Registries for tests: of just these plugins, of just these objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from alignsim.hookspecs import hookimpl
from alignsim.registry import Registry


def registry_of(*plugins: Any, discover: bool = False) -> Registry:
    """Return a strict registry of these plugins, and of the installed ones if ``discover``.

    Raises:
        PluginError: a plugin breaks the contract. Its hooks are asked, and may raise, when a catalogue is first used.
    """
    return Registry(plugins, discover=discover, strict=True)


def offering(name: str = "test", **offers: Iterable[Any]) -> Any:
    """Return a plugin that offers these objects: ``offering(algorithms=[mine], terms=[buffer])``.

    Args:
        name: the name of the plugin.
        offers: the objects by what their hook is called after ``alignsim_``.
    """
    plugin = ModuleType(name)
    for kind, items in offers.items():
        setattr(plugin, f"alignsim_{kind}", hookimpl(_hook(tuple(items))))
    return plugin


def _hook(items: tuple[Any, ...]) -> Callable[[], tuple[Any, ...]]:
    def hook() -> tuple[Any, ...]:
        return items

    return hook
