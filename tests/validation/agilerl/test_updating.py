"""AgileRL's first update of adapters with vLLM asleep beside it: device memory, beside what was there before."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from alignsim import Batch, Place, Result, Scenario
from alignsim.schedule import Schedule

ROWS = json.loads(Path(__file__).with_name("figures.json").read_text(encoding="utf-8"))["rows"]
MODELS = {
    "Qwen2.5-0.5B-Instruct": "Qwen2.5-0.5B",
    "Qwen2.5-1.5B-Instruct": "Qwen2.5-1.5B",
    "Qwen2.5-3B-Instruct": "Qwen2.5-3B",
    "Qwen2.5-7B-Instruct": "Qwen2.5-7B",
    "SmolLM2-1.7B-Instruct": "SmolLM2-1.7B",
    "OLMoE-1B-7B-0924-Instruct (MoE)": "OLMoE-1B-7B",
}
LEFT_OUT = {"gemma-4-E2B-it": "embeddings for every layer, shared keys and values, MLPs of two widths: not described"}
DEVICES = {"A100": "A100-SXM4-40GB", "L4": "L4"}
ATTENTION_ALONE = {f"adapts_{name}": 0 for name in ("gate", "up", "down")}


def name(row: Any) -> str:
    return str(row["model"].split("/")[1])


KNOWN = [row for row in ROWS if name(row) in MODELS]


def update(row: Any) -> Result:
    """A step of one micro-batch: all answers have the length that is allowed, and so nothing is padded."""
    result: Result = Scenario(
        algorithm="GRPO",
        models={"policy": MODELS[name(row)]},
        accelerator=DEVICES[row["device"]],
        components={
            "engine": "single-device",
            "reference.engine": "same-weights-own-adapters",
            "layers": "transformers",
            "attention": "sdpa",
            "adapter": "qlora" if row["nf4"] else "lora",
            "precision": "autocast-fp32" if row["nf4"] else "bf16",
            "recompute": "full",
            "packing": "equal",
            "optimizer": "adamw-foreach",
            "loss": "agilerl-2.8",
            "rollout": "vllm-offloading",
            "weight_sync": "one-by-one",
        },
        batch=Batch(
            micro_batch=min(row["micro_batch"], row["group"]),
            sequence_tokens=row["sequence_tokens"],
            prompt_tokens=row["prompt_tokens"],
            rollout_tokens=row["sequence_tokens"],
            rollout_sequences=row["group"],
        ),
        places={"generator": Place("trainer")},
        givens={
            "lora_rank": row["lora_rank"],
            "generator.gpu_memory_utilization": row["share"],
            **(ATTENTION_ALONE if row["adapts"] == "attention" else {}),
        },
    ).result
    return result


def predicted(row: Any) -> float:
    """What was there before, and what the trainer's tensors, holes and workspaces add in the first update."""
    result = update(row)
    schedule = Schedule.of(result.graph.parts.algorithm)
    events = [str(event) for event in schedule.events if (event.lap, event.phase) == ("first", "update")]
    tensors = max(result.value(f"{event}.allocated") for event in events)
    holes = 1 + result.value("%trainer.fragmentation_share")
    return float(row["asleep"] + (tensors * holes + result.value("%trainer.library_workspaces")) / 2**30)


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row["key"])
def test_each_update(row):
    assert predicted(row) == pytest.approx(row["updating"], rel=0.075)


def test_all_updates_together():
    errors = [predicted(row) / row["updating"] - 1 for row in KNOWN]
    assert mean(map(abs, errors)) <= 0.032
    assert len(KNOWN) + sum(name(row) in LEFT_OUT for row in ROWS) == 21


def test_the_reference_has_adapters_of_its_own():
    result = update(KNOWN[0])
    hidden, ffn, keys, layers, rank = 896, 4864, 128, 24, 8
    adapters = rank * layers * (2 * 2 * hidden + 2 * (hidden + keys) + 3 * (hidden + ffn))
    assert result.value("reference.held_own_adapters") == 4 * adapters


def test_a_tile_is_a_quarter_of_a_gib_in_32_bits():
    result = update(KNOWN[0])
    assert result.value("policy.chunk_tokens") == 2**28 // (4 * 151936)
