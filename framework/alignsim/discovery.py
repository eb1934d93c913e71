"""Where plugins come from: entry points of installed distributions, the modules of a package, a single file."""

from __future__ import annotations

import os
import pkgutil
import re
import sys
import zlib
from collections.abc import Iterator
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs

from alignsim.catalogue import DISABLE, Failure, Provider, described, raised_at
from alignsim.contract import check_api, check_plugin, hooks_of
from alignsim.errors import PluginError

GROUP = "alignsim"
FILE = "alignsim_file_"
ERRORS = (Exception, SystemExit)  # whatever a plugin may raise; only an interrupt is not its doing


@attrs.frozen
class Modules:
    """The modules of a package, each of them a plugin, found when they are asked for; see :func:`scan`."""

    package: str
    skip: tuple[str, ...] = ("tests", "conftest")

    def names(self) -> tuple[str, ...]:
        """Return the dotted names of the package and of all its modules, sorted. Only the package is imported."""
        package = import_module(self.package)
        return (self.package, *sorted(self._below(self.package, list(getattr(package, "__path__", ())))))

    def _below(self, package: str, folders: list[str]) -> Iterator[str]:
        found = {info.name: info.ispkg for info in pkgutil.iter_modules(folders)}
        for folder in folders:
            found.update({name: True for name in _plain_folders(folder) if name not in found})
        for name, is_package in found.items():
            if name.startswith("_") or name in self.skip:
                continue
            yield f"{package}.{name}"
            if is_package:
                yield from self._below(f"{package}.{name}", [os.path.join(folder, name) for folder in folders])


def _plain_folders(folder: str) -> list[str]:
    """Return subfolders that hold Python files but no ``__init__.py``; they are packages all the same."""
    if not os.path.isdir(folder):
        return []
    inside = {e.name: os.listdir(e.path) for e in os.scandir(folder) if e.is_dir() and e.name.isidentifier()}
    return [name for name, files in inside.items() if any(file.endswith(".py") for file in files)]


def scan(package: str, *, skip: tuple[str, ...] = ("tests", "conftest")) -> Modules:
    """Return all modules of a package as plugins, for one entry point to stand for them all.

    In the package's ``__init__.py``, write ``modules = scan(__name__)``; in ``pyproject.toml``::

        [project.entry - points.alignsim]
        acme = "alignsim_acme:modules"

    From then on, a new file with a hook in it is a new plugin; a file without one is left alone. Each module is
    imported by itself, when something is first asked of a registry; one that fails keeps none of the others away.

    Args:
        package: the package's dotted name.
        skip: names of modules and folders that are not imported; those that begin with ``_`` never are.
    """
    return Modules(package, skip)


@attrs.frozen
class Found:
    """What looking for plugins brought to light.

    Attributes:
        plugins: the plugins that could be loaded.
        failures: those that could not.
        disabled: those that are switched off by ``ALIGNSIM_DISABLE_PLUGINS``.
        unmatched: names in ``ALIGNSIM_DISABLE_PLUGINS`` that no plugin has.
        known: all names that could stand there.
    """

    plugins: tuple[tuple[Provider, Any], ...] = ()
    failures: tuple[Failure, ...] = ()
    disabled: tuple[Provider, ...] = ()
    unmatched: tuple[str, ...] = ()
    known: tuple[str, ...] = ()


@attrs.define
class Search:
    """A look around for plugins; each is loaded by itself, and what it raises is kept."""

    wanted_off: frozenset[str] = frozenset()
    plugins: list[tuple[Provider, Any]] = attrs.field(factory=list)
    failures: list[Failure] = attrs.field(factory=list)
    disabled: list[Provider] = attrs.field(factory=list)
    known: set[str] = attrs.field(factory=set)

    def off(self, provider: Provider, *names: str) -> bool:
        """Whether one of the names, or a package that it is in, is to be disabled."""
        self.known.update(names)
        above = {name[:end] for name in names for end in range(len(name)) if name[end] == "."}
        if self.wanted_off.isdisjoint(above.union(names)):
            return False
        self.disabled.append(provider)
        return True

    def entry_point(self, provider: Provider, point: Any) -> None:
        """Load what one entry point names."""
        if self.off(provider, provider.plugin, point.name, point.module, provider.distribution):
            return
        try:
            plugin = point.load()
            if isinstance(plugin, Modules):
                self.modules(provider, plugin)
                return
            plugin = made(plugin)
            check_plugin(plugin)
        except ERRORS as error:
            self.failures.append(Failure(provider, error))
        else:
            self.plugins.append((provider, plugin))

    def modules(self, provider: Provider, modules: Modules) -> None:
        """Load the modules of a package that have a hook."""
        check_api(import_module(modules.package))
        broken: list[str] = []
        for name in modules.names():
            each = attrs.evolve(provider, plugin=name)
            if name.startswith(tuple(broken)) or (name != modules.package and self.off(each, name)):
                continue
            try:
                module = import_module(name)
                if not any(hooks_of(module)):
                    continue
                check_plugin(module)
            except ERRORS as error:
                self.failures.append(Failure(each, error))
                broken.append(f"{name}.")
            else:
                self.plugins.append((each, module))

    def found(self) -> Found:
        """Return what was found, sorted."""
        matched = self.known | {name[:end] for name in self.known for end in range(len(name)) if name[end] == "."}
        return Found(
            tuple(sorted(self.plugins, key=lambda found: found[0])),
            tuple(sorted(self.failures, key=lambda failure: failure.provider)),
            tuple(sorted(self.disabled)),
            tuple(sorted(self.wanted_off - matched)),
            tuple(sorted(matched)),
        )


def made(plugin: Any) -> Any:
    """Return a plugin; a class is called."""
    return plugin() if isinstance(plugin, type) else plugin


def discover() -> Found:
    """Find and load the plugins of all installed distributions, in an order that has nothing to do with how.

    ``ALIGNSIM_DISABLE_PLUGINS`` names those to pass over, separated by commas: entry points, distributions, modules, or
    packages with all that is in them.

    Raises:
        PluginError: a module that is being loaded asks for this; only its hooks may.
    """
    global _looking
    if _looking:
        raise PluginError("asks a registry while plugins are being loaded; ask in a hook instead")
    _looking = True
    try:
        return _discover()
    finally:
        _looking = False


_looking = False


def _discover() -> Found:
    from importlib import metadata

    wanted_off = (name.strip() for name in os.environ.get(DISABLE, "").split(","))
    search = Search(frozenset(name for name in wanted_off if name))
    points = metadata.entry_points(group=GROUP)
    shared = [point.name for point in points]
    named = []
    for point in points:
        distribution, version = (point.dist.name, point.dist.version) if point.dist else ("?", "")
        name = point.name if shared.count(point.name) == 1 else f"{distribution}:{point.name}"
        named.append((Provider(name, distribution, version, discovered=True), point))
    for provider, point in sorted(named, key=lambda n: (n[0], n[1].value)):
        search.entry_point(provider, point)
    return search.found()


def load_file(path: str | Path) -> ModuleType:
    """Return a Python file as a module, to be handed to :meth:`Registry.with_plugins`; no packaging needed.

    The module has a name of its own, so that its terms can be pickled within the process. The same file with the same
    content is the same module.

    Raises:
        PluginError: there is no such file, or running it raised; the message begins with file and line.
    """
    file = Path(path).resolve()
    try:
        content = file.read_bytes()
    except OSError as error:
        raise PluginError(f"{path}: {error.strerror or error}") from error
    stamp = zlib.crc32(content, zlib.crc32(str(file).encode()))
    name = f"{FILE}{re.sub(r'[^0-9a-zA-Z]', '_', file.stem)}_{stamp:08x}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, file)
    if spec is None:
        raise PluginError(f"{path}: is not a Python file")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        exec(compile(content, str(file), "exec"), vars(module))
    except ERRORS as error:
        del sys.modules[name]
        raise PluginError(f"{raised_at(error) or path}: {described(error)}") from error
    return module
