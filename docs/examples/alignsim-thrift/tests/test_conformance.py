import alignsim_thrift
from hypothesis import given, settings

from alignsim import AlignSimError
from alignsim.testing import ComponentTests, TermTests, assert_lawful, workbench_of
from alignsim.testing.drawn import setups

WORKBENCH = workbench_of(alignsim_thrift)


class TestThrift(ComponentTests):
    plugin = alignsim_thrift


class TestTermsOfThrift(TermTests):
    plugin = alignsim_thrift


@settings(max_examples=10, deadline=None)
@given(setups(WORKBENCH, fillings={"optimizer": "thrift"}))
def test_random_runs_with_thrift(setup):
    try:
        run = setup.scenario(WORKBENCH.registry)
        run.graph[run.resource]
    except AlignSimError:
        return  # refused, which is an answer too
    assert_lawful(run)
