"""Asks every plugin by itself and keeps what goes wrong, so that one broken plugin breaks nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from threading import RLock
from types import MappingProxyType, ModuleType
from typing import Any

import attrs
import pluggy

from alignsim import hookspecs
from alignsim.catalogue import DISABLE, Failure, Provider
from alignsim.contract import KINDS, check_plugin, hooks_of
from alignsim.discovery import ERRORS, FILE, Found, Modules, discover, load_file, made
from alignsim.errors import PluginError, suggestion


@attrs.frozen
class Report:
    """How one plugin fares.

    Attributes:
        provider: its name and its distribution.
        status: ``loaded``, ``failed``, ``disabled``, or ``unknown`` (a name to disable that no plugin has).
        hooks: how many objects it offers through each of its hooks.
        problems: what failed, and its names that another plugin has too.
    """

    provider: Provider
    status: str
    hooks: Mapping[str, int] = attrs.field(factory=dict)
    problems: tuple[str, ...] = ()


class Collector:
    """The plugins of one registry; see :class:`~alignsim.registry.Registry` for what the arguments mean."""

    def __init__(self, plugins: Iterable[Any], discover: bool, strict: bool, found: Found | None = None) -> None:
        self.given, self.discover, self.strict = tuple(plugins), discover, strict
        self.found = found
        self.providers: dict[str, Provider] = {}
        self._looked = not discover
        self._manager = pluggy.PluginManager("alignsim")
        self._manager.add_hookspecs(hookspecs)
        self._failures: list[Failure] = []
        self._asking: set[str] = set()
        self._lock = RLock()
        self._offered: dict[str, dict[str, set[str]]] = {}
        for plugin in self.given:
            self._hand_over(plugin)

    def _hand_over(self, plugin: Any) -> None:
        if isinstance(plugin, Modules):
            for module in map(import_module, plugin.names()):
                if any(hooks_of(module)):
                    self._hand_over(module)
            return
        plugin = made(plugin)
        provider = Provider(_name(plugin), _file(plugin) or "given in code")
        try:
            check_plugin(plugin)
        except PluginError as error:
            raise PluginError(f"plugin {provider}: {error}") from error
        self._register(provider, plugin)

    def _register(self, provider: Provider, plugin: Any) -> None:
        if any(plugin is known for _, known in self._manager.list_name_plugin()):
            return  # handed over as well as installed
        name, number = provider.plugin, 1
        while self._manager.has_plugin(name):
            number += 1
            name = f"{provider.plugin}#{number}"
        self._manager.register(plugin, name)
        self.providers[name] = attrs.evolve(provider, plugin=name)

    def look(self) -> None:
        """Find the installed plugins, the first time only."""
        if self._looked:
            return
        self.found = self.found or discover()
        for failure in self.found.failures:
            self._keep(failure)
        for provider, plugin in self.found.plugins:
            self._register(provider, plugin)
        self._looked = True

    def _keep(self, failure: Failure) -> None:
        if self.strict:
            raise PluginError(str(failure)) from failure.error
        if str(failure) not in map(str, self._failures):
            self._failures.append(failure)

    def ask(self, hook: str, **arguments: Any) -> list[tuple[Provider, Any]]:
        """Return what each plugin answers to a hook, in the order of their names."""
        with self._lock:  # a second thread waits; a hook that asks what it is about to offer is told so
            return self._ask(hook, arguments)

    def _ask(self, hook: str, arguments: Mapping[str, Any]) -> list[tuple[Provider, Any]]:
        self.look()
        if hook in self._asking:
            raise PluginError(f"asks the registry for what {hook} is about to offer")
        implementations = getattr(self._manager.hook, hook).get_hookimpls()
        classes = KINDS[hook].classes() if implementations else ()
        answers: list[tuple[Provider, Any]] = []
        self._asking.add(hook)
        try:
            for implementation in sorted(implementations, key=lambda i: i.plugin_name):
                provider = self.providers[implementation.plugin_name]
                try:
                    returned = implementation.function(*(arguments[name] for name in implementation.argnames))
                    items = KINDS[hook].checked(returned, classes)
                except ERRORS as error:
                    self._keep(Failure(provider, error, hook))
                    continue
                offered = self._offered.setdefault(provider.plugin, {}).setdefault(hook, set())
                offered.update(KINDS[hook].key(item) for item in items)
                answers += [(provider, item) for item in items]
        finally:
            self._asking.discard(hook)
        return answers

    def failures(self) -> tuple[Failure, ...]:
        """Return what has gone wrong so far, in the order of the plugins' names."""
        self.look()
        return tuple(sorted(self._failures, key=lambda f: (f.provider, f.hook or "")))

    def note(self, hook: str) -> str:
        """Return a line for each plugin that might have answered a hook and did not; empty if all did."""
        lines = [str(failure) for failure in self.failures() if failure.concerns(hook)]
        disabled = self.found.disabled if self.found else ()
        return "\n".join([*lines, *(f"plugin {provider} is disabled by {DISABLE}" for provider in disabled)])

    def reports(self, clashes: Iterable[tuple[Provider, str]]) -> tuple[Report, ...]:
        """Return how every plugin fares, given the names that providers share with others."""
        problems: dict[Provider, list[str]] = {}
        for provider, problem in [*((f.provider, str(f)) for f in self.failures()), *clashes]:
            problems.setdefault(provider, []).append(problem)
        failed = {failure.provider for failure in self._failures}
        found = self.found or Found()
        reports = [
            Report(
                provider,
                "failed" if provider in failed else "loaded",
                MappingProxyType({h: len(n) for h, n in sorted(self._offered.get(provider.plugin, {}).items())}),
                tuple(problems.get(provider, ())),
            )
            for provider in {*self.providers.values(), *failed}
        ]
        reports += [Report(provider, "disabled") for provider in found.disabled]
        reports += [
            Report(Provider(name, DISABLE), "unknown", {}, (f"no plugin {name!r}; {suggestion(name, found.known)}",))
            for name in found.unmatched
        ]
        return tuple(sorted(reports, key=lambda report: (report.provider, report.status)))

    def pack(self) -> tuple[tuple[str, Any], ...]:
        """Return the plugins that were handed over as something that pickles; see :func:`unpack`."""
        return tuple(_packed(plugin) for plugin in self.given)


def _name(plugin: Any) -> str:
    if isinstance(plugin, ModuleType):
        return plugin.__name__
    stated = getattr(plugin, "name", None)
    return stated if isinstance(stated, str) and stated else f"{type(plugin).__module__}.{type(plugin).__qualname__}"


def _file(plugin: Any) -> str | None:
    return plugin.__file__ if isinstance(plugin, ModuleType) and plugin.__name__.startswith(FILE) else None


def _packed(plugin: Any) -> tuple[str, Any]:
    if isinstance(plugin, ModuleType):
        file = _file(plugin)
        return ("file", file) if file else ("module", plugin.__name__)
    return "object", plugin


def unpack(packed: Iterable[tuple[str, Any]]) -> list[Any]:
    """Return the plugins that :meth:`Collector.pack` packed, loaded again where they are files or modules."""
    ways = {"object": lambda plugin: plugin, "file": load_file, "module": import_module}
    return [ways[way](what) for way, what in packed]
