"""Terms that refuse a run by being above 0: when it is composed, and row by row in sweeps."""

from __future__ import annotations

import pickle

import pytest

from alignsim import InvalidInput, Layout, maths, term
from alignsim.errors import CompositionError
from small_runs import small_run


@term("", per={"role"}, refuses="samples must come in pairs")
def odd_samples(micro_batch):
    """1 where one is left over."""
    return micro_batch - 2 * maths.floor(micro_batch / 2)


@term("byte", per={"model"})
def sized(hidden):
    """A size of a model."""
    return hidden


def test_a_run_is_refused_with_its_numbers():
    run = small_run(rows=2).with_terms(odd_samples)
    with pytest.raises(CompositionError, match=r"samples must come in pairs \(micro_batch 3\)"):
        run.using(micro_batch=3).graph  # noqa: B018
    assert run.using(micro_batch=4).result.value("policy.odd_samples") == 0


def test_a_row_is_refused_by_its_number():
    run = small_run().with_terms(odd_samples).using(micro_batch=2)
    assert len(run.sweep(micro_batch=[2, 4, 6])) == 3
    with pytest.raises(InvalidInput, match=r"row 2: samples must come in pairs \(micro_batch 5\)"):
        run.sweep(micro_batch=[2, 4, 5, 7])


def test_a_sweep_over_other_inputs_is_not_asked_again():
    run = small_run().with_terms(odd_samples).using(micro_batch=2)
    assert len(run.sweep(sequence_tokens=[64, 128])) == 2


def test_the_same_formula_elsewhere_is_one_object_that_travels():
    of_role = sized.again(per=frozenset({"role"}))
    assert of_role is sized.again(per=frozenset({"role"}))
    assert of_role is not sized
    assert pickle.loads(pickle.dumps(of_role)) is of_role
    assert (of_role.per, of_role.name, of_role(4)) == (frozenset({"role"}), "sized", 4)


def test_a_layout_counts_its_devices():
    assert Layout(tensor=2, pipeline=3, context=2, data=4).devices == 48
