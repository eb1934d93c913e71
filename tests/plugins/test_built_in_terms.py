"""What every built-in term keeps to."""

from __future__ import annotations

import pytest

from alignsim import Scenarios, default_registry
from alignsim.solver import Solver

REGISTRY = default_registry()
TERMS = {
    term.provider: term
    for found in (
        *(REGISTRY.terms(algorithm) for algorithm in REGISTRY.algorithms.values()),
        *(component.terms for component in REGISTRY.components.values()),
        *(algorithm.terms for algorithm in REGISTRY.algorithms.values()),
        *([n.term for n in s.graph.nodes.values() if n.term] for s in REGISTRY.scenarios.values()),
    )
    for term in found
}


def composed():
    """Every scenario, and its run under every algorithm: composing one checks the units of all its formulas."""
    for scenario in REGISTRY.scenarios.values():
        yield scenario.graph
        if hasattr(scenario, "as_run"):
            for algorithm in REGISTRY.algorithms.values():
                yield scenario.as_run(algorithm=algorithm).graph


def test_there_are_some():
    assert len(TERMS) > 30
    assert REGISTRY.failures == ()


@pytest.mark.parametrize("term", TERMS.values(), ids=list(TERMS))
def test_a_built_in_term(term):
    assert term.formula.expression is not None, "outside the language"
    assert term.formula.doc
    assert term.formula.summary.endswith((".", ":", ";")) or term.formula.doc.rstrip().endswith(".")
    assert term.source


def test_every_built_in_term_is_in_a_composition_that_passes():
    used = {
        node.term.provider for graph in composed() for node in graph.nodes.values() if node.kind == "term" and node.term
    }
    overridden = {
        node.term.provider
        for graph in composed()
        for node in graph.nodes.values()
        if node.kind == "given" and node.term
    }
    assert set(TERMS) - used - overridden == set()


def test_every_given_of_a_built_in_composition_says_where_it_is_from():
    for graph in composed():
        assert [path for path, number in graph.givens.items() if not number.source] == []


def test_solvers_are_solvers():
    assert all(isinstance(solver, Solver) for solver in REGISTRY.solvers.values())
    assert {scenario.solver for scenario in REGISTRY.scenarios.values()} <= set(REGISTRY.solvers)
    assert "Llama2_70B_PpoAlignment" in list(Scenarios)
