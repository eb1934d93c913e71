"""verl's smallest published set-up for GRPO of a 7B model: two devices, everything offloaded that can be.

volcengine/verl at b178a3cd, examples/tuning/7b/qwen2-7b_grpo_2_h800_fsdp_vllm.sh, which docs/perf/device_tuning.rst
calls the least that can run. GSM8K's prompts and answers have some 450 tokens together; the script allows 2048. FSDP2
stands for FSDP1, whose states and whose step are the same.
"""

from __future__ import annotations

import attrs
import pytest

from alignsim import Batch, Layout, Result, Scenario, default_registry


def answered(tokens: int) -> Result:
    registry = default_registry()
    table = attrs.evolve(
        registry.algorithms["GRPO"],
        name="GRPO with a reference that is on the device only to be asked",
        phases={
            "rollout": {"policy": "generate", "reference": "offloaded"},
            "score": {"policy": "infer", "reference": "infer"},
            "update": {"policy": "train", "reference": "offloaded"},
        },
    )
    run = Scenario(
        algorithm=table,
        models={"policy": "Qwen2.5-7B"},
        accelerator="H800-SXM5-80GB",
        layout=Layout(data=2),
        layouts={"generator": Layout(tensor=2)},
        components={
            "engine": "fsdp2",
            "layers": "transformers",
            "precision": "bf16-gathered",
            "optimizer": "adamw-foreach",
            "adapter": "full",
            "recompute": "full",
            "attention": "flash",
            "packing": "packed",
            "loss": "verl-2026.01",
            "rollout": "vllm-offloading",
            "weight_sync": "bucketed",
        },
        batch=Batch(
            micro_batch=16, sequence_tokens=tokens, prompt_tokens=100, rollout_tokens=tokens, rollout_sequences=1280
        ),
        givens={"generator.gpu_memory_utilization": 0.6, "policy.reduce_bytes": 4},
    )
    result: Result = run.result
    return result


def test_it_runs_at_real_lengths_and_not_at_the_maxima():
    verdicts = [answered(tokens).verdict for tokens in (450, 2048)]
    assert [verdict.status for verdict in verdicts if verdict] == ["close call", "does not fit"]


def test_the_step_binds_at_20_bytes_a_parameter():
    result = answered(450)
    assert result.binding.event == "update:policy/optimizer_step"
    parameters = result.value("{Qwen2.5-7B}.parameters")
    assert result.peak.m_as("byte") == pytest.approx(20 * parameters / 2, rel=1e-3)
