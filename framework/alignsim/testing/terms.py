"""What a plugin of terms should pass."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from itertools import chain
from typing import ClassVar

from alignsim.registry import default_registry
from alignsim.term import Term
from alignsim.testing.kit import PluginTests, faults
from alignsim.testing.registries import registry_of
from alignsim.testing.setups import Workbench


class TermTests(PluginTests):
    """Conformance of a plugin's terms, those of its components and algorithms included."""

    subject: ClassVar[str] = "term"
    kind: ClassVar[str] = "terms"

    def offered(self) -> Mapping[str, Term]:
        """Return the terms by the dotted name of their function, and by their own where that is another."""
        mine = registry_of(self.plugin)
        own = mine.algorithms.values()
        found = [t for algorithm in (*default_registry().algorithms.values(), *own) for t in mine.terms(algorithm)]
        found += [term for component in mine.components.values() for term in component.terms]
        found += [term for algorithm in own for term in algorithm.terms]
        return {_spelt(term): term for term in found}

    def test_says_what_it_is(self, term: Term) -> None:
        """In words, with a source, in a known unit; its formula is in the language, or declared opaque."""
        lacking = faults([term])
        assert not lacking, lacking

    def test_travels(self, term: Term) -> None:
        """It pickles, as the name of its function."""
        assert pickle.loads(pickle.dumps(term)) is term, f"{term.provider} comes back as another term"

    def test_has_a_place_in_some_run(self, term: Term, workbench: Workbench) -> None:
        """Some run has a value of it: composing that run has checked its unit."""
        mine, registry = registry_of(self.plugin).components.values(), workbench.registry
        likely = (run for component in mine if term in component.terms for run in workbench.runs_with(component))
        questions = chain(likely, registry.scenarios.values(), workbench.runs())
        seen = any(node.term is term for question in questions for node in question.graph.nodes.values())
        assert seen, "no run that was found has it; is its name, `during` or component wrong?"


def _spelt(term: Term) -> str:
    return term.provider if term.provider.endswith(f".{term.name}") else f"{term.provider} as {term.name}"
