"""What a notebook shows of an object fits on a line or two, and says what was asked."""

from __future__ import annotations

import pytest

from alignsim import Batch, Layout, Scenario, Scenarios


@pytest.fixture(scope="module")
def run():
    return Scenario(
        algorithm="GRPO",
        preset="trl",
        models={"policy": "Qwen2.5-7B"},
        accelerator="H100-SXM5-80GB",
        layout=Layout(data=8),
        components={"engine": "fsdp2"},
        batch=Batch(micro_batch=4, prompt_tokens=512, sequence_tokens=1024, rollout_tokens=1024),
        givens={"score:micro_batch": 8, "memory": "2 GiB"},
    )


def test_a_run_shows_what_was_said_of_it(run):
    assert repr(run) == (
        "Scenario(algorithm='GRPO', models={'policy': 'Qwen2.5-7B'}, accelerator='H100-SXM5-80GB', "
        "layout=Layout(data=8), batch=Batch(micro_batch=4, sequence_tokens=1024, prompt_tokens=512, "
        "rollout_tokens=1024), components={'engine': 'fsdp2'}, givens={'score:micro_batch': 8, 'memory': '2.000 GiB'}, "
        "preset='trl-1.16')"
    )


def test_the_reference_case_shows_its_fields():
    told = repr(Scenarios.Llama2_70B_PpoAlignment)
    assert told.startswith("AlignmentMemoryScenario(policy='Llama-2-70B-nominal', critic='Llama-2-13B-nominal'")
    assert "device_memory='74.506 GiB'" in told


def test_answers_show_the_answer():
    result = Scenarios.Llama2_70B_PpoAlignment.as_run().result
    peak = "45.981 GiB at rollout:policy/prefill"
    assert repr(result) == f"Result('Llama2_70B_PpoAlignment as PPO': allocated {peak}, {result.verdict.status})"
    swept = Scenarios.Llama2_70B_PpoAlignment.as_run().sweep({"policy.rollout_sequences": [64, 128]})
    assert repr(swept).startswith("Sweep(2 rows of rollout_sequences: allocated")
    assert repr(swept.plan).endswith(f" of {swept.plan.graph!r})")
    assert repr(result.graph).startswith("TermGraph(PPO: ")
