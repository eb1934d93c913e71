"""What one rank of vLLM keeps while it sleeps, in the trainer's process: AgileRL's measurements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from alignsim import Algorithm, Batch, Place, Scenario

FIGURES = json.loads(Path(__file__).with_name("figures.json").read_text(encoding="utf-8"))
UNKNOWN = {"agilerl-olmoe-1b-7b-0924-instruct (moe)-a100-s4096-mb8-g16-r64"}
"""5.51 GiB with a share of 0.84, where the same model with a share of 0.428 keeps 1.36 GiB: the cause is not known."""

AWAY = Algorithm(
    name="away", phases={"rollout": {"policy": "generate"}, "between": {"policy": "offloaded"}}, source="AgileRL"
)


def asleep() -> tuple[float, float, float]:
    run = Scenario(
        algorithm=AWAY,
        models={"policy": "Qwen2.5-1.5B"},
        accelerator="A100-SXM4-40GB",
        components={
            "rollout": "vllm-offloading",
            "weight_sync": "one-by-one",
            "engine": "single-device",
            "precision": "bf16",
        },
        batch=Batch(rollout_tokens=512),
        places={"generator": Place("trainer")},
    )
    low, expected, high = (size / 2**30 for size in run.result.ends("between:device"))
    return low, expected, high


@pytest.mark.parametrize("row", FIGURES["rows"], ids=lambda row: row["key"])
def test_within_the_range(row):
    low, _, high = asleep()
    assert (low <= row["asleep"] <= high) == (row["key"] not in UNKNOWN)


def test_the_range():
    assert [round(end, 2) for end in asleep()] == [0.79, 1.76, 3.1]
