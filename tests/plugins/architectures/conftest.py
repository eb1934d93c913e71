"""A way to ask for one count of one model, without a graph."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from alignsim import Architecture
from alignsim_plugins.architectures.parameters import TERMS
from alignsim_plugins.rollouts.kv_cache import kv_elements_per_token

BY_NAME = {term.name: term for term in (*TERMS, kv_elements_per_token)}


def evaluate(architecture: Architecture, name: str) -> float:
    """Return a term, or a number of the model, by following parameter names."""
    known = {key: given.value for key, given in architecture.numbers().items()}

    def value(wanted: str) -> float:
        if wanted not in known:
            term = BY_NAME[wanted]
            known[wanted] = term(**{parameter: value(parameter) for parameter in term.formula.parameters})
        return known[wanted]

    return value(name)


@pytest.fixture(scope="session")
def count() -> Callable[[Architecture, str], float]:
    return evaluate
