"""OpenRLHF's presets, by flags with underscores and with dots, beside counts by hand."""

from __future__ import annotations

import pytest

from alignsim import Batch, InvalidInput, Layout, Scenario

PARAMETERS = 8_030_261_248
SIZES = {
    "micro_batch": 1,
    "prompt_tokens": 512,
    "sequence_tokens": 1024,
    "rollout_tokens": 1024,
    "rollout_sequences": 8,
}
PRESETS = ("openrlhf-0.9", "openrlhf-0.11")


def run(preset, algorithm, said=None, batch=None, **models):
    return Scenario(
        algorithm=algorithm,
        models={"policy": "Llama-3.1-8B", **models},
        preset=preset,
        components=said or {},
        layout=Layout(data=8),
        batch=Batch(**SIZES if batch is None else batch),
        accelerator="H100-SXM5-80GB",
    )


def chosen(asked, place):
    return asked.settled.components[place].name


@pytest.mark.parametrize(
    ("preset", "algorithm", "micro_batch", "sequence_tokens"),
    [
        ("openrlhf-0.9", "SFT", 8, 2048),
        ("openrlhf-0.9", "DPO", 8, 512),
        ("openrlhf-0.9", "KTO", 8, 2048),
        ("openrlhf-0.9", "GRPO", 4, 2048),
        ("openrlhf-0.11", "SFT", 8, 2048),
        ("openrlhf-0.11", "DPO", 8, 512),
        ("openrlhf-0.11", "GRPO", 1, 2048),
    ],
)
def test_sizes_by_trainer_and_generation(preset, algorithm, micro_batch, sequence_tokens):
    batch = run(preset, algorithm, batch={}).settled.batch
    assert (batch.micro_batch, batch.sequence_tokens) == (micro_batch, sequence_tokens)


def test_the_newest_is_meant_by_the_name_alone():
    assert run("openrlhf", "SFT").preset.name == "openrlhf-0.11"
    with pytest.raises(InvalidInput, match=r"openrlhf-0.11 runs no KTO"):
        run("openrlhf", "KTO")


@pytest.mark.parametrize("preset", PRESETS)
def test_states_of_stage_2_and_3(preset):
    held = {stage: run(preset, "SFT", {"engine": stage}).result for stage in ("zero-2", "zero-3")}
    assert held["zero-2"].value("policy.held_weights") == 2 * PARAMETERS
    assert held["zero-3"].value("policy.held_weights") == pytest.approx(2 * PARAMETERS / 8, rel=1e-3)
    for result in held.values():
        assert result.value("policy.held_optimizer_state") == pytest.approx(8 * PARAMETERS / 8, rel=1e-6)
        assert result.value("policy.held_master_weights") == pytest.approx(4 * PARAMETERS / 8, rel=1e-6)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    ("engine", "held"),
    [("zero-2", "zero-replica"), ("zero-3", "zero-inference"), ("zero-3-sleeping", "zero-inference")],
)
def test_who_is_not_trained_is_whole_unless_training_is_of_stage_3(preset, engine, held):
    asked = run(preset, "PPO", {"engine": engine, "rollout": "vllm-offloading"}, critic="Llama-3.1-8B")
    assert {chosen(asked, f"{role}.engine") for role in ("reference", "reward")} == {held}
    assert chosen(asked, "engine") == engine


def test_vllm_is_awake_with_nearly_all_of_a_device_unless_it_sleeps():
    asked = run("openrlhf", "GRPO", {"engine": "zero-3"})
    assert chosen(asked, "rollout") == "vllm-awake"
    assert asked.settled.givens["generator.gpu_memory_utilization"].value == 0.95
    assert asked.result.verdict.status == "does not fit"
    asleep = run("openrlhf", "GRPO", {"engine": "zero-3-sleeping", "rollout": "vllm-offloading"})
    assert asleep.result.figures["device"].expected < asked.result.figures["device"].expected


def test_other_engines_are_refused():
    with pytest.raises(InvalidInput, match=r"openrlhf-0.11 has 'zero' or .* there, got 'fsdp2'"):
        run("openrlhf", "SFT", {"engine": "fsdp2"})


def test_logits_are_in_32_bits_beside_those_in_16():
    result = run("openrlhf", "DPO", {"engine": "zero-3"}, {"micro_batch": 1, "sequence_tokens": 1024}).result
    rows, tokens, vocab = 2, 1024, 128_256
    at_loss = result.value("update:policy/loss.allocated")
    assert at_loss - result.value("update:policy/backward_end.allocated") > 4 * rows * tokens * vocab
