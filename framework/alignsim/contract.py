"""What a plugin must keep to: known hooks with known arguments, the right API, objects of the right type."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import attrs

from alignsim import hookspecs
from alignsim.errors import Origin, PluginError, Problem, suggestion

PREFIX = "alignsim_"
HOOKS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        name: tuple(inspect.signature(function).parameters)
        for name, function in vars(hookspecs).items()
        if name.startswith(PREFIX)
    }
)
"""The hooks and the names of their arguments."""


@attrs.frozen
class Kind:
    """One kind of object that plugins offer.

    Attributes:
        name: what messages call it.
        hook: the hook that offers it.
        types: the classes it must be of, as ``module:Class``; imported when the first is checked.
    """

    name: str
    hook: str
    types: tuple[str, ...]

    def classes(self) -> tuple[type, ...]:
        """Import the classes."""
        found = (spelling.partition(":") for spelling in self.types)
        return tuple(getattr(import_module(module), name) for module, _, name in found)

    def key(self, item: Any) -> str:
        """Return the name that an object is looked up by."""
        return f"{slot_of(item)}:{item.name}" if self.name == "component" else str(item.name)

    def aliases(self, item: Any) -> tuple[str, ...]:
        """Return its other names."""
        aliases = getattr(item, "aliases", None) or ()
        return tuple(f"{slot_of(item)}:{alias}" if self.name == "component" else alias for alias in aliases)

    def checked(self, items: Any, classes: tuple[type, ...]) -> tuple[Any, ...]:
        """Return what a hook returned as a tuple; None is nothing.

        Raises:
            PluginError: not an iterable, an object of another type, or one without a name.
        """
        expected = " or ".join(spelling.partition(":")[2] for spelling in self.types)
        if items is None:
            return ()
        if isinstance(items, classes):
            raise PluginError(f"returned one {type(items).__name__}; return a list, or yield it")
        if isinstance(items, str | bytes) or not hasattr(items, "__iter__"):
            raise PluginError(f"returned {_short(items)} where a list of {expected} was expected")
        found = tuple(items)
        for item in found:
            if not isinstance(item, classes):
                raise PluginError(f"returned {_short(item)} where {expected} was expected")
            name = getattr(item, "name", None)
            if not isinstance(name, str) or not name:
                raise PluginError(f"returned {_short(item)} without a name")
        return found


def _short(item: object) -> str:
    text = repr(item)
    return f"{text if len(text) <= 60 else f'{text[:57]}...'} (of type {type(item).__name__})"


def slot_of(component: Any) -> str:
    """Return the name of a component's slot."""
    return str(getattr(component.slot, "name", component.slot))


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.hook: kind
        for kind in (
            Kind("accelerator", "alignsim_accelerators", ("alignsim.hardware:Accelerator",)),
            Kind("node", "alignsim_nodes", ("alignsim.hardware:Node", "alignsim.hardware:Cluster")),
            Kind("detector", "alignsim_detectors", ("alignsim.detector:Detector",)),
            Kind("architecture", "alignsim_architectures", ("alignsim.architecture:Architecture",)),
            Kind("family", "alignsim_families", ("alignsim.family:Family",)),
            Kind("reader", "alignsim_readers", ("alignsim.reader:Reader",)),
            Kind("algorithm", "alignsim_algorithms", ("alignsim.algorithm:Algorithm",)),
            Kind("component", "alignsim_components", ("alignsim.component:Component",)),
            Kind("preset", "alignsim_presets", ("alignsim.preset:Preset",)),
            Kind("resource", "alignsim_resources", ("alignsim.resource:Resource",)),
            Kind("term", "alignsim_terms", ("alignsim.term:Term",)),
            Kind("scenario", "alignsim_scenarios", ("alignsim.question:Question",)),
            Kind("solver", "alignsim_solvers", ("alignsim.solver:Solver",)),
            Kind("validation", "alignsim_validations", ("alignsim.validation:Validation",)),
            Kind("command", "alignsim_commands", ("click:Command",)),
        )
    }
)


def check_api(plugin: Any) -> None:
    """Check the version of the contract that a plugin says it was written for.

    Raises:
        PluginError: it is another one.
    """
    wanted = getattr(plugin, "ALIGNSIM_API", hookspecs.API)
    if wanted != hookspecs.API:
        raise PluginError(f"is written for plugin API {wanted!r}; this alignsim speaks {hookspecs.API}")


def hooks_of(plugin: Any) -> Iterator[tuple[str, Any, Mapping[str, Any] | None]]:
    """Yield what looks like a hook: attribute, value, and its marker's options (None if it has no marker)."""
    if isinstance(plugin, ModuleType):
        members = list(vars(plugin).items())
    else:
        members = [(name, inspect.getattr_static(plugin, name)) for name in dir(plugin)]
    for name, value in members:
        function = value.__func__ if isinstance(value, staticmethod | classmethod | MethodType) else value
        options = getattr(function, "alignsim_impl", None) if isinstance(function, FunctionType) else None
        if options is not None or (name.startswith(PREFIX) and not isinstance(value, ModuleType)):
            yield name, function, options


def check_plugin(plugin: Any) -> None:
    """Check a plugin's API version and its hooks.

    Raises:
        PluginError: another API version, no hook at all, an unknown hook or argument, a hook without its marker.
            All that is wrong is listed, with file and line.
    """
    check_api(plugin)
    found = list(hooks_of(plugin))
    if not found:
        raise PluginError(_no_hook(plugin))
    problems = [
        Problem(attribute, message, _origin(function))
        for attribute, function, options in found
        for message in _faults(attribute, options, bound=getattr(plugin, attribute))
    ]
    if problems:
        raise PluginError("\n".join(str(problem) for problem in problems))


def _no_hook(plugin: Any) -> str:
    scans = [name for name, value in getattr(plugin, "__dict__", {}).items() if type(value).__name__ == "Modules"]
    if isinstance(plugin, ModuleType) and scans:
        return f"offers nothing itself; let its entry point name {plugin.__name__}:{scans[0]}"
    return "offers nothing: no function of it is marked with @hookimpl"


def _origin(function: Any) -> Origin | None:
    code = getattr(function, "__code__", None)
    return Origin(code.co_filename, code.co_firstlineno) if code else None


def _faults(attribute: str, options: Mapping[str, Any] | None, bound: Any) -> Iterator[str]:
    hook = (options or {}).get("specname") or attribute
    if hook not in HOOKS:
        if not (options and options.get("optionalhook")):
            yield f"no hook is named {hook!r}; {suggestion(hook, HOOKS)}"
        return
    if options is None:
        yield "is not marked as a hook; put @hookimpl above it"
        return
    if options.get("wrapper") or options.get("hookwrapper"):
        yield "hooks cannot be wrapped: each plugin speaks for itself alone"
        return
    arguments = HOOKS[hook]
    for name, parameter in inspect.signature(bound).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name in arguments and parameter.default is not parameter.empty:
            yield f"parameter {name!r} must have no default; it would always be used"
        elif name not in arguments and parameter.default is parameter.empty:
            known = suggestion(name, arguments) if arguments else "it takes none"
            yield f"the hook has no argument {name!r}; {known}"
