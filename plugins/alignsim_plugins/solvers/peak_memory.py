"""The peak of a resource over a run: the ordinary question."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from alignsim import InvalidInput, Problem, Result, Scenario, Solver, hookimpl


@attrs.frozen
class PeakMemory:
    """Answers an ordinary run with a :class:`Result`."""

    name: str = "peak-memory"

    def solve(self, scenario: Scenario) -> Result:
        """Return every value of the run's graph, with the instant that sets the peak.

        Raises:
            InvalidInput: nothing takes up the resource that the run asks about.
        """
        graph = scenario.graph
        if scenario.resource not in graph.nodes:
            raise InvalidInput(Problem("resource", f"nothing takes up {scenario.resource!r} in this run"))
        return Result(scenario, graph, scenario.resource)


@hookimpl
def alignsim_solvers() -> Iterator[Solver]:
    """Offer the peak."""
    yield PeakMemory()
