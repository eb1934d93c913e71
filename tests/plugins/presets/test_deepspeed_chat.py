"""DeepSpeed-Chat's preset beside counts by hand."""

from __future__ import annotations

import pytest

from alignsim import Batch, InvalidInput, Layout, Scenario

PARAMETERS = 8_030_261_248
LOSSES = {"policy.loss": "openrlhf-3c3be62", "reference.loss": "openrlhf-3c3be62"}


def run(algorithm, said, **batch):
    models = {"PPO": ("policy", "critic"), "RM": ("reward",)}.get(algorithm, ("policy",))
    return Scenario(
        algorithm=algorithm,
        models=dict.fromkeys(models, "Llama-3.1-8B"),
        preset="deepspeed-chat",
        components={"attention": "sdpa", **said},
        layout=Layout(data=8),
        batch=Batch(**batch),
        accelerator="H100-SXM5-80GB",
    )


def test_the_stage_has_to_be_told():
    with pytest.raises(InvalidInput, match=r"actor_zero_stage and critic_zero_stage are 0 by default"):
        _ = run("SFT", {}).result


def test_what_is_trained_fetches_less_ahead_than_what_is_not():
    givens = run("PPO", {"engine": "zero-3", **LOSSES}).settled.givens
    assert {givens[f"{role}.max_live_parameters"].value for role in ("policy", "critic")} == {3e7}
    assert not {"max_live_parameters", "reference.max_live_parameters"} & givens.keys()
    assert givens["overlap_comm"].value == 1


def test_answers_are_made_through_the_engine():
    asked = run("PPO", {"engine": "zero-3", **LOSSES})
    assert asked.settled.components["rollout"].name == "transformers-cache"
    assert "policy.gathered_for_generation" not in asked.result.values
    hybrid = run("PPO", {"engine": "zero-3", "rollout": "transformers-cache-gathered", **LOSSES})
    assert hybrid.result.value("policy.gathered_for_generation") == 2 * PARAMETERS


@pytest.mark.parametrize(("stage", "held"), [("zero-2", 2 * PARAMETERS), ("zero-3", 2 * PARAMETERS / 8)])
def test_a_reference_is_whole_unless_training_is_of_stage_3(stage, held):
    asked = run("PPO", {"engine": stage, **LOSSES})
    assert asked.result.value("reference.held_weights") == pytest.approx(held, rel=1e-3)


@pytest.mark.parametrize(("algorithm", "tokens"), [("SFT", 512), ("RM", 512), ("PPO", 512)])
def test_sizes(algorithm, tokens):
    batch = run(algorithm, {"engine": "zero-3"}).settled.batch
    assert (batch.micro_batch, batch.sequence_tokens) == (16, tokens)
