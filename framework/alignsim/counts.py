"""Parameter counts of a model by part, from the terms that every run counts with."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from alignsim.algorithm import Algorithm
from alignsim.architecture import Architecture
from alignsim.compose import compose
from alignsim.parts import Parts
from alignsim.plan import Plan
from alignsim.registry import Registry
from alignsim.term import Term

LOOK = Algorithm(name="look", phases={"look": {"model": "infer"}})
WANTED: tuple[str, ...] = ("parameters", "active_parameters")


@attrs.frozen
class Count:
    """One count: its name, its value, and what it counts. ``source`` is told where somebody stated it."""

    name: str
    value: float
    about: str
    source: str = ""


def parameter_counts(model: Architecture, registry: Registry) -> tuple[Count, ...]:
    """Return the counts of a model in the order in which they follow from each other, the total last but one.

    Empty where no plugin counts parameters.
    """
    terms = tuple(_needed(tuple(t for t in registry.terms(LOOK) if t.per == {"model"})))
    owner = f"{{{model.name}}}"
    if not any(term.name == WANTED[0] for term in terms):
        return ()
    facts = {f"{owner}.{name}": number for name, number in model.numbers().items()}
    graph = compose(Parts(algorithm=LOOK, terms=terms, models={"model": model.name}, facts=facts))
    outputs = [f"{owner}.{name}" for name in WANTED if f"{owner}.{name}" in graph.nodes]
    values = Plan.of(graph, graph.order).evaluate()
    counts = []
    for path in graph.needed(outputs):
        node = graph.nodes[path]
        if node.term is not None:
            stated = node.given.source if node.given else ""
            counts.append(Count(node.term.name, values[path], node.term.formula.summary.replace("``", ""), stated))
    layers = {count.name: count.value for count in counts if count.name == "expert_layers"}
    left_out = ("expert_layers", "expert_layer_parameters") if layers.get("expert_layers") == 0 else ()
    return tuple(count for count in counts if count.name not in left_out)


def total(counts: tuple[Count, ...]) -> float | None:
    """Return the count of all parameters, None where it is not among them."""
    return next((count.value for count in counts if count.name == WANTED[0]), None)


def _needed(terms: tuple[Term, ...]) -> Iterator[Term]:
    """Yield the terms that the totals are made of."""
    wanted, seen = list(WANTED), set(WANTED)
    while wanted:
        name = wanted.pop()
        for term in terms:
            if term.name == name:
                yield term
                fresh = [parameter for parameter in term.formula.parameters if parameter not in seen]
                seen.update(fresh)
                wanted += fresh
