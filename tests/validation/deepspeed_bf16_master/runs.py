"""DeepSpeed's example of 16-bit copies of weights: published rows beside their predictions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from alignsim import Architecture, Batch, Layout, Scenario

FIGURES: Mapping[str, Any] = json.loads(Path(__file__).with_name("figures.json").read_text(encoding="utf-8"))
MODEL = Architecture(
    name="example",
    gated=False,
    mlp_bias=True,
    qkv_bias=True,
    output_bias=True,
    rms_norm=False,
    norm_bias=True,
    head_bias=True,
    learned_positions=512,
    source="train.py",
    **FIGURES["model"],
)
STAYS = (
    "held_weights",
    "persistent_weights",
    "held_master_weights",
    "held_optimizer_state",
    "standing_gradients",
    "standing_bucket",
    "held_inputs",
)
"""What is there between steps."""


def gib(row: Mapping[str, Any], bucket: float) -> float:
    """Return a row's prediction."""
    algorithm: Any = "SFT"
    run = Scenario(
        algorithm=algorithm,
        models={"policy": MODEL},
        components={
            "engine": "zero-3",
            "precision": row["precision"],
            "optimizer": "adamw-fused",
            "adapter": "full",
            "recompute": "full",
            "attention": "flash",
            "packing": "equal",
            "loss": "cross-entropy",
            "layers": "transformers",
        },
        layout=Layout(data=4),
        batch=Batch(micro_batch=1, sequence_tokens=512, prompt_tokens=0),
        givens={"policy.reduce_bucket_size": bucket},
    ).result
    found = run.value("allocated") if row["peak"] else sum(run.values[f"policy.{name}"] for name in STAYS)
    return float(found) / 2**30


def predicted() -> Iterator[tuple[Mapping[str, Any], float, float]]:
    """Yield every row that is not left out, its prediction, and that with the default bucket."""
    for row in FIGURES["rows"]:
        if "left_out" not in row:
            yield row, gib(row, FIGURES["bucket"]["reduce_bucket_size"]), gib(row, 5e8)
