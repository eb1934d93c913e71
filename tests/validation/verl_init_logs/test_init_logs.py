"""What verl logs while it loads critic, actor and reference on one GPU, before its rollout engine takes the rest.

FSDP over one rank keeps 32-bit weights of what is trained and 16-bit weights of the reference. Older transformers cache
sines and cosines of all positions in every layer. All rows are met within 0.05 %: 0.7 MB a 32-bit model is unexplained
(it halves with the format, as parameters do; neither padding to 512 B nor the value head is as large).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from alignsim import Algorithm, Scenario, default_registry

FIGURES = json.loads(Path(__file__).with_name("figures.json").read_text(encoding="utf-8"))
FORMATS = {"critic": "fp32", "policy": "fp32", "reference": "bf16"}
SIZES = {"fp32": 4, "bf16": 2}
ROLES = {"after critic": ("critic",), "before vLLM": ("critic", "policy", "reference")}


def rotary_caches(model: Any, bytes_: int) -> float:
    """Sine and cosine of every position, in every layer."""
    return float(model.layers * 2 * model.max_positions * model.head_dim * bytes_)


@pytest.mark.parametrize("row", FIGURES["rows"], ids=lambda row: f"{row['instant']}-{row['rotary_caches']}")
def test_a_log(row: Any):
    roles, model = ROLES[row["instant"]], default_registry().architectures["Qwen2.5-0.5B"]
    components: Any = {f"{role}.precision": FORMATS[role] for role in roles}
    components |= {f"{role}.engine": "fsdp1" for role in roles}
    run = Scenario(
        algorithm=Algorithm(name="loading", phases={"load": dict.fromkeys(roles, "idle")}),
        models=dict.fromkeys(roles, model),
        components=components,
    )
    caches = row["rotary_caches"] * sum(rotary_caches(model, SIZES[FORMATS[role]]) for role in roles)
    assert (run.result.peak.m_as("byte") + caches) / 2**30 == pytest.approx(row["gib"], rel=5e-4)
