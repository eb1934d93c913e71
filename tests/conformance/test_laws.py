"""Random runs over all that is on offer: algorithms, models, fillings of every slot, batches; each law for each."""

import os
from collections import Counter

import pytest
from hypothesis import given, settings

from alignsim import AlignSimError, default_registry
from alignsim.testing import LAWS, Workbench
from alignsim.testing.drawn import setups

WORKBENCH = Workbench(default_registry())
ALGORITHMS = list(WORKBENCH.registry.algorithms)
HUNT = os.environ.get("ALIGNSIM_HUNT")  # a number of random runs an algorithm, other ones every time
EXAMPLES, LEAST = int(HUNT or max(5, 90 // len(ALGORITHMS))), 0.4


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_random_runs_are_lawful(algorithm):
    refusals: Counter[str] = Counter()

    @settings(max_examples=EXAMPLES, deadline=None, derandomize=HUNT is None)
    @given(setups(WORKBENCH, algorithm=algorithm))
    def check(setup):
        refusals["asked"] += 1
        try:
            run = setup.scenario(WORKBENCH.registry)
            run.graph[run.resource]
        except AlignSimError as error:  # an answer too, but not too often
            refusals[str(error).splitlines()[0]] += 1
            return
        for law in LAWS:
            law(run)

    check()
    asked = refusals.pop("asked")
    share = 1 - refusals.total() / asked
    assert share >= LEAST, f"only {share:.0%} of {asked} runs compose: {refusals.most_common(3)}"
