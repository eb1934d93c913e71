"""What the conformance classes share: which plugin is meant, and one test for each object that it offers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import pytest

from alignsim.registry import Registry, default_registry
from alignsim.term import Term
from alignsim.testing.registries import registry_of
from alignsim.testing.setups import Workbench
from alignsim.units import base_unit


class PluginTests:
    """Subclass a class of these for each kind of object, and say which plugin is meant: ``plugin = alignsim_acme``.

    Attributes:
        plugin: a module, an object, or what ``scan`` returns.
        subject: the parameter of tests that stands for one object.
        kind: the catalogue that the objects are in.
    """

    plugin: Any = None
    subject: ClassVar[str] = ""
    kind: ClassVar[str] = ""

    def offered(self) -> Mapping[str, Any]:
        """Return what the plugin offers of this kind, by name."""
        found: Mapping[str, Any] = getattr(registry_of(self.plugin), self.kind)
        return found

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """Make one test of each object that is offered."""
        if self.subject in metafunc.fixturenames:
            items = self.offered() if self.plugin is not None else {}
            metafunc.parametrize(self.subject, list(items.values()), ids=list(items))

    @pytest.fixture
    def workbench(self) -> Workbench:
        """What finds set-ups with the plugin, among all that is installed."""
        return workbench_of(self.plugin)

    def test_nothing_fails(self) -> None:
        """Every hook answers, with objects of the right type under names of their own."""
        assert self.plugin is not None, "say which plugin is meant: `plugin = alignsim_acme` in the class"
        mine = registry_of(self.plugin)
        failed = [f"{report.provider}: {report.status}" for report in mine.plugins if report.status != "loaded"]
        assert not failed, "\n".join([*failed, *map(str, mine.failures)])

    def test_offers_at_least_one(self) -> None:
        """There is something to offer."""
        assert self.offered(), f"the plugin offers none of the {self.kind}"

    def test_answers_the_same_twice(self) -> None:
        """A hook has no memory of its own."""
        first, second = self.offered(), self.offered()
        unlike = sorted(first.keys() ^ second.keys()) or [n for n, item in first.items() if item != second[n]]
        assert not unlike, f"the second time another answer: {', '.join(unlike)}"


_WORKBENCHES: dict[int, tuple[Any, Workbench]] = {}


def workbench_of(plugin: Any) -> Workbench:
    """Return the workbench of everything installed and a plugin, the same one for all tests of a plugin."""
    key = id(plugin)
    if key not in _WORKBENCHES:
        _WORKBENCHES[key] = plugin, Workbench(_with(plugin))
    return _WORKBENCHES[key][1]


def _with(plugin: Any) -> Registry:
    installed = default_registry()
    mine = registry_of(plugin)
    kinds = ("algorithms", "components", "scenarios", "solvers", "architectures", "families", "readers")
    known = all(
        getattr(installed, kind).get(name) is item for kind in kinds for name, item in getattr(mine, kind).items()
    )
    offers_terms = any("alignsim_terms" in report.hooks for report in mine.plugins)
    return installed if known and not offers_terms else installed.with_plugins(plugin)


def faults(terms: Iterable[Term]) -> str:
    """Return what terms lack, a line each: words, a source, a formula that can be printed and inlined."""
    return "\n".join(f"{t.provider} ({t.origin}) {fault}" for t in terms for fault in _faults(t))


def _faults(term: Term) -> list[str]:
    found = []
    if not term.formula.doc:
        found.append("has no docstring, which says what it is")
    if not term.source.strip():
        found.append("has no source=: the paper, the code or the measurement that it follows")
    if not term.formula.opaque and term.formula.expression is None:
        found.append("has no source text to read; write it in a file")
    base_unit(term.unit)  # raises where it cannot be read
    return found


def sourced(source: str) -> bool:
    """Whether a source says something: it is not blank, and not that of numbers which a user typed in."""
    return source.strip() not in ("", "user")
