"""Rules of liveness travel, as terms that have them do, and come back as the same rules."""

from __future__ import annotations

import pickle

import pytest

from alignsim import after, always, at, resident, span, while_
from alignsim_plugins.engines.turns import TRAINING, outside

RULES = (
    always,
    resident,
    at("loss", "backward_loss"),
    while_("train", "infer"),
    span("loss", "backward_loss", without=("loss",)),
    after("optimizer_step"),
    resident & after("optimizer_step") | at("loss"),
    outside(TRAINING),
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_there_and_back(rule):
    back = pickle.loads(pickle.dumps(rule))
    assert back == rule
    assert hash(back) == hash(rule)
    assert back.moments == rule.moments


def test_rules_that_differ_are_told_apart():
    assert len(set(RULES)) == len(RULES)
    assert span("loss", "backward_loss") != span("loss", "backward_loss", without=("loss",))
