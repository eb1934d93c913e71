"""ms-swift's preset: adapters with dropout, one sample at a time, and how weights reach vLLM."""

from __future__ import annotations

import pytest

from alignsim import Batch, Layout, Scenario

PARAMETERS = 8_030_261_248
ADAPTERS = 20_971_520
SIZES = {"prompt_tokens": 512, "sequence_tokens": 1024, "rollout_tokens": 1024, "rollout_sequences": 8}


def run(algorithm, said=None, data=8, **batch):
    return Scenario(
        algorithm=algorithm,
        models={"policy": "Llama-3.1-8B"},
        preset="ms-swift",
        components=said or {},
        layout=Layout(data=data),
        batch=Batch(**{**SIZES, **batch}),
        accelerator="H100-SXM5-80GB",
    )


def chosen(asked, place):
    return asked.settled.components[place].name


def test_adapters_of_rank_8_with_dropout():
    asked = run("SFT", data=1)
    assert asked.settled.batch.micro_batch == 1
    assert asked.result.value("policy.trainable_parameters") == ADAPTERS
    at = "update:policy/backward_first_layer.allocated"
    without = asked.using(givens={"lora_dropout": 0})
    assert asked.result.value(at) > without.result.value(at), "a copy of an adapter's input that lost some is kept"
    full = run("SFT", {"adapter": "full"})
    assert "lora_dropout" not in full.settled.givens


def test_all_weights_are_trained_in_16_bits():
    result = run("SFT", {"adapter": "full"}, data=1).result
    states = ("policy.held_weights", "policy.held_optimizer_state")
    assert [result.value(path) / PARAMETERS for path in states] == [2, 4]


def test_simpo_has_the_cross_entropy_too():
    assert chosen(run("SimPO"), "loss") == "trl-cpo"


@pytest.mark.parametrize(
    ("engine", "way"), [("zero-2", "one-by-one"), ("zero-3", "whole-model"), ("ddp", "one-by-one")]
)
def test_how_weights_reach_vllm(engine, way):
    asked = run("GRPO-No-KL", {"engine": engine, "adapter": "full", "rollout": "vllm-awake"})
    assert chosen(asked, "weight_sync") == way
    assert asked.settled.givens["generator.gpu_memory_utilization"].value == 0.9


def test_the_reference_of_grpo_is_the_policy_without_adapters():
    asked = run("GRPO", {"engine": "zero-3"})
    assert chosen(asked, "reference.engine") == "zero-3-same-weights"
    assert chosen(asked, "rollout") == "transformers-cache-gathered"
