"""Predict the memory of language-model alignment runs, phase by phase.

Every public name can be imported from here. Each is loaded when it is first used, so that ``import alignsim`` costs
next to nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from alignsim import maths
    from alignsim.algorithm import Activity, Algorithm
    from alignsim.architecture import Architecture
    from alignsim.batch import Batch
    from alignsim.component import Component, Slot, Stage
    from alignsim.detector import Detected, Detector
    from alignsim.discovery import load_file, scan
    from alignsim.errors import AlignSimError, InvalidInput, Origin, Problem, UnknownName
    from alignsim.explain import Explanation, explain
    from alignsim.family import Family
    from alignsim.given import Given, Inputs, described, given
    from alignsim.hardware import Accelerator, Cluster, Node
    from alignsim.hookspecs import hookimpl
    from alignsim.layout import Layout, Place
    from alignsim.lengths import Lengths
    from alignsim.limits import Limit
    from alignsim.parts import Parts
    from alignsim.plan import Plan
    from alignsim.preset import Choice, Preset
    from alignsim.question import Question
    from alignsim.reader import Found, Reader, Stored
    from alignsim.registry import Registry, default_registry
    from alignsim.resource import Resource
    from alignsim.result import Result
    from alignsim.scenario import Scenario
    from alignsim.scenarios import Scenarios
    from alignsim.schedule import after, always, at, resident, span, while_
    from alignsim.solver import Solver
    from alignsim.sweep import Sweep, grid
    from alignsim.tenant import Tenant
    from alignsim.term import Collect, Const, Of, Term, Total, term
    from alignsim.units import quantity
    from alignsim.validation import Case, Validation, compare

__version__ = "0.1.0"

_HOME = {  # name -> the module that it is in; empty for a module
    "Accelerator": "hardware",
    "Activity": "algorithm",
    "Algorithm": "algorithm",
    "AlignSimError": "errors",
    "Architecture": "architecture",
    "Batch": "batch",
    "Case": "validation",
    "Choice": "preset",
    "Cluster": "hardware",
    "Collect": "term",
    "Component": "component",
    "Const": "term",
    "Detected": "detector",
    "Detector": "detector",
    "Explanation": "explain",
    "Family": "family",
    "Found": "reader",
    "Given": "given",
    "Inputs": "given",
    "InvalidInput": "errors",
    "Layout": "layout",
    "Lengths": "lengths",
    "Limit": "limits",
    "Node": "hardware",
    "Of": "term",
    "Origin": "errors",
    "Parts": "parts",
    "Place": "layout",
    "Plan": "plan",
    "Preset": "preset",
    "Problem": "errors",
    "Question": "question",
    "Reader": "reader",
    "Registry": "registry",
    "Resource": "resource",
    "Result": "result",
    "Scenario": "scenario",
    "Scenarios": "scenarios",
    "Slot": "component",
    "Solver": "solver",
    "Stored": "reader",
    "Stage": "component",
    "Sweep": "sweep",
    "Tenant": "tenant",
    "Term": "term",
    "Total": "term",
    "UnknownName": "errors",
    "Validation": "validation",
    "after": "schedule",
    "always": "schedule",
    "at": "schedule",
    "compare": "validation",
    "default_registry": "registry",
    "described": "given",
    "explain": "explain",
    "given": "given",
    "grid": "sweep",
    "hookimpl": "hookspecs",
    "load_file": "discovery",
    "maths": "",
    "quantity": "units",
    "resident": "schedule",
    "scan": "discovery",
    "span": "schedule",
    "term": "term",
    "while_": "schedule",
}
__all__ = [
    "Accelerator",
    "Activity",
    "Algorithm",
    "AlignSimError",
    "Architecture",
    "Batch",
    "Case",
    "Choice",
    "Cluster",
    "Collect",
    "Component",
    "Const",
    "Detected",
    "Detector",
    "Explanation",
    "Family",
    "Found",
    "Given",
    "Inputs",
    "InvalidInput",
    "Layout",
    "Lengths",
    "Limit",
    "Node",
    "Of",
    "Origin",
    "Parts",
    "Place",
    "Plan",
    "Preset",
    "Problem",
    "Question",
    "Reader",
    "Registry",
    "Resource",
    "Result",
    "Scenario",
    "Scenarios",
    "Slot",
    "Solver",
    "Stage",
    "Stored",
    "Sweep",
    "Tenant",
    "Term",
    "Total",
    "UnknownName",
    "Validation",
    "after",
    "always",
    "at",
    "compare",
    "default_registry",
    "described",
    "explain",
    "given",
    "grid",
    "hookimpl",
    "load_file",
    "maths",
    "quantity",
    "resident",
    "scan",
    "span",
    "term",
    "while_",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        from difflib import get_close_matches

        near = get_close_matches(name, _HOME, 1)
        raise AttributeError(f"alignsim has no {name!r}" + (f"; did you mean {near[0]}?" if near else ""))
    home = _HOME[name]
    value = getattr(import_module(f"alignsim.{home}"), name) if home else import_module(f"alignsim.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})


class _Package(ModuleType):
    """The import of ``alignsim.term`` sets that module on this package; here the name stays the function's.

    Without this, ``from alignsim import term`` would depend on what was imported before.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and _HOME.get(name) == name:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
