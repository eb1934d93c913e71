"""TRL's presets beside measured steps of its trainers, and beside counts by hand.

Measured are live bytes of transformers 5.24 and TRL 1.16 (of TRL 0.19's losses where the preset is of 0.19) on one
device, in 32 bits under autocast.
"""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Batch, InvalidInput, Layout, Scenario

GIB = 2**30
PARAMETERS = 8_030_261_248
EMBEDDING = 128_256 * 4096


def run(preset, algorithm, said=None, *, data=8, batch=None, **models):
    return Scenario(
        algorithm=algorithm,
        models={"policy": "Llama-3.1-8B", **models},
        preset=preset,
        components=said or {},
        layout=Layout(data=data),
        batch=Batch(**batch or {}),
        accelerator="H100-SXM5-80GB",
    )


def chosen(asked, place):
    return asked.settled.components[place].name


ALONE = {"engine": "single-device", "packing": "equal"}
MEASURED: dict[str, tuple[str, str, dict[str, str], dict[str, Any], int]] = {
    "TRL 1.16, DPO, foreach": (
        "trl-1.16",
        "DPO",
        {"optimizer": "adamw-foreach"},
        {"micro_batch": 2, "prompt_tokens": 512},
        192_726_393_856,
    ),
    "TRL 0.19, SFT": ("trl-0.19", "SFT", {}, {"micro_batch": 2, "sequence_tokens": 2048}, 160_605_323_760),
    "TRL 0.19, SFT, recomputed": (
        "trl-0.19",
        "SFT",
        {"recompute": "full", "optimizer": "adamw-fused"},
        {"micro_batch": 2, "sequence_tokens": 2048},
        128_551_388_804,
    ),
}


@pytest.mark.parametrize("case", MEASURED)
def test_a_measured_step(case):
    preset, algorithm, said, batch, peak = MEASURED[case]
    asked = run(preset, algorithm, {**ALONE, **said}, data=1, batch=batch)
    assert asked.result.value("allocated") == pytest.approx(peak, rel=2e-4)


@pytest.mark.parametrize(
    ("preset", "algorithm", "precision"),
    [
        ("trl-1.16", "SFT", "autocast-fp32"),
        ("trl-1.16", "ORPO", "autocast-bf16"),
        ("trl-0.19", "DPO", "autocast-fp32"),
        ("trl-0.11", "DPO", "fp32"),
    ],
)
def test_formats_of_a_model_that_is_given_by_name(preset, algorithm, precision):
    asked = run(preset, algorithm)
    assert chosen(asked, "precision") == precision
    assert chosen(asked.using(components={"engine": "zero-3"}), "precision") == "bf16-master"
    assert chosen(asked.using(components={"engine": "fsdp2"}), "precision") == "bf16-gathered"


def test_lengths_by_version():
    sizes = {
        (preset, algorithm): (asked.settled.batch.sequence_tokens, asked.settled.batch.prompt_tokens)
        for preset in ("trl-1.16", "trl-0.19", "trl-0.11")
        for algorithm in ("SFT", "DPO")
        for asked in [run(preset, algorithm)]
    }
    assert sizes == {
        ("trl-1.16", "SFT"): (1024, None),
        ("trl-1.16", "DPO"): (1024, None),
        ("trl-0.19", "SFT"): (1024, None),
        ("trl-0.19", "DPO"): (1024, 512),
        ("trl-0.11", "SFT"): (1024, None),
        ("trl-0.11", "DPO"): (512, 128),
    }


def test_prompts_of_1_16_are_not_cut_and_have_to_be_told():
    with pytest.raises(InvalidInput, match=r"needs 'sequence_tokens'(.|\n)*max_completion_length=512"):
        _ = run("trl", "GRPO").result
    assert run("trl-0.19", "GRPO").settled.batch.rollout_tokens == 768


@pytest.mark.parametrize("preset", ["trl-1.16", "trl-0.19", "trl-0.11"])
def test_a_reference_is_whole_unless_training_is_of_stage_3(preset):
    weights = {
        stage: run(preset, "DPO", {"engine": stage}, batch={"micro_batch": 1}).result.value("reference.held_weights")
        for stage in ("zero-2", "zero-3")
    }
    assert weights["zero-2"] == 2 * PARAMETERS
    assert weights["zero-3"] == pytest.approx(2 * PARAMETERS / 8, rel=1e-3)


def test_a_reference_under_fsdp2_is_one_unit_in_1_16():
    asked = run("trl", "DPO", {"engine": "fsdp2"}, batch={"micro_batch": 1})
    assert chosen(asked, "reference.engine") == "fsdp2-one-unit"
    assert asked.result.value("update:reference/forward_layers.allocated") > 2 * 2 * PARAMETERS


def test_a_reference_under_fsdp1_is_whole_in_0_11():
    asked = run("trl-0.11", "DPO", {"engine": "fsdp1"}, batch={"micro_batch": 1})
    assert asked.result.value("reference.held_weights") == 4 * PARAMETERS
    assert "reference.engine" not in run("trl-0.19", "DPO", {"engine": "fsdp1"}).settled.components


def test_adapters_take_the_references_place():
    asked = run("trl", "DPO", {"engine": "zero-3", "adapter": "lora"}, batch={"micro_batch": 1})
    assert chosen(asked, "reference.engine") == "zero-3-same-weights"
    assert "reference.held_weights" not in asked.result.values


ROLLOUT = {"prompt_tokens": 512, "sequence_tokens": 1024, "rollout_tokens": 1024}


@pytest.mark.parametrize("preset", ["trl-1.16", "trl-0.19"])
@pytest.mark.parametrize(
    ("engine", "gathered"), [("zero-3", 2 * PARAMETERS), ("fsdp1", 4 * (2 * EMBEDDING + 4096)), ("fsdp2", 0)]
)
def test_what_is_gathered_for_generation(preset, engine, gathered):
    values = run(preset, "GRPO-No-KL", {"engine": engine}, batch=ROLLOUT).result.values
    found = sum(values.get(f"policy.{name}", 0) for name in ("gathered_for_generation", "root_for_generation"))
    assert found == gathered


def test_ppo_gathers_both_of_its_models():
    asked = run("trl-0.19", "TRL-PPO", {"engine": "zero-3"}, batch=ROLLOUT, critic="Llama-3.2-1B")
    assert asked.result.value("policy.gathered_for_generation") == 2 * PARAMETERS
    backbone = 16 * (2 * 2048 * (2048 + 512) + 3 * 2048 * 8192 + 2 * 2048) + 128_256 * 2048 + 2048
    assert asked.result.value("policy.value_gathered_for_generation") == 2 * (backbone + 2048)


def test_vllm_in_the_trainers_process_is_awake_with_three_tenths():
    asked = run("trl", "GRPO-No-KL", {"engine": "zero-3", "rollout": "vllm-awake"}, batch=ROLLOUT)
    assert asked.settled.givens["generator.gpu_memory_utilization"].value == 0.3
    assert asked.settled.givens["generator.max_batched_tokens"].value == 4096
    asleep = asked.using(components={"engine": "zero-3", "rollout": "vllm"})
    held, left = (each.result.value("update:policy/backward_end.device") for each in (asked, asleep))
    assert held - left > 15 * GIB, "0.3 of 79 GiB, less what stays of a sleeping engine"


def test_vllm_of_0_19_is_a_server():
    asked = run("trl-0.19", "GRPO-No-KL", {"engine": "zero-3", "rollout": "vllm-awake"}, batch=ROLLOUT)
    assert asked.settled.givens["generator.gpu_memory_utilization"].value == 0.9


def test_online_dpo_under_vllm_takes_more():
    asked = run("trl", "Online-DPO-Judge", {"engine": "zero-3", "rollout": "vllm-awake"})
    assert asked.settled.givens["generator.gpu_memory_utilization"].value == 0.55


def test_all_hidden_states_are_kept_in_0_19():
    kept, plain = (
        run("trl-0.19", "DPO", {**ALONE, **loss}, data=1, batch={"micro_batch": 1}).result
        for loss in ({}, {"loss": "trl-dpo"})
    )
    layers, rows, tokens, hidden = 32, 2, 1024, 4096
    at = "update:reference/loss.allocated"
    assert kept.value(at) - plain.value(at) >= 2 * hidden * (layers + 1) * rows * tokens
