"""A reward model that an engine serves: on the device while it scores, on the host while it does not."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Batch, Layout, Result, Scenario
from alignsim.errors import CompositionError

MODEL = "Llama-3.2-1B"
UTILISATION = 0.3


def run(**more: Any) -> Scenario:
    fields: dict[str, Any] = {
        "algorithm": "PPO",
        "models": dict.fromkeys(("policy", "critic", "reward"), MODEL),
        "preset": "verl",
        "layout": Layout(data=2),
        "batch": Batch(micro_batch=1, rollout_sequences=8),
        "accelerator": "H100-SXM5-80GB",
        "givens": {"reward.gpu_memory_utilization": UTILISATION},
    }
    return Scenario(**fields | more)


def held(result: Result, event: str, resource: str = "allocated") -> dict[str, float]:
    terms = dict(result.bindings(f"{event}.{resource}")[0].terms)
    names = ("served_weights", "scoring_pool", "sleeping_weights")
    return {name: terms[f"reward.{name}"] for name in names if f"reward.{name}" in terms}


def test_its_share_is_taken_while_it_scores_and_at_no_other_time() -> None:
    result = run().result
    scoring = held(result, "score:reward/forward_layers")
    assert sum(scoring.values()) == pytest.approx(UTILISATION * result.value("@gpus.usable_memory"))
    assert list(held(result, "init:reward/load")) == ["served_weights"]
    for event in ("score:critic/forward_layers", "update:policy/optimizer_step", "rollout:generator/decode"):
        assert held(result, event) == {}


def test_its_weights_sleep_on_the_host() -> None:
    result = run().result
    weights = result.value("reward.served_weights")
    assert held(result, "update:policy/optimizer_step", "host") == {"sleeping_weights": weights}
    assert held(result, "score:reward/forward_layers", "host") == {}


def test_a_share_below_the_weights_is_the_weights() -> None:
    result = run(givens={"reward.gpu_memory_utilization": 0.01}).result
    assert result.value("reward.scoring_pool") == 0
    assert list(held(result, "score:reward/forward_layers")) == ["served_weights", "scoring_pool"]


def test_tensor_ranks_divide_it() -> None:
    whole, half = (run(layouts={"reward": layout}).result for layout in (Layout(data=2), Layout(tensor=2)))
    assert half.value("reward.served_weights") == whole.value("reward.served_weights") / 2


def test_it_trains_nothing() -> None:
    with pytest.raises(CompositionError, match="it only scores; choose an engine that trains"):
        _ = run(components={"critic.engine": "served-while-scoring"}).result
