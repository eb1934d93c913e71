"""ColossalChat's published rows beside their predictions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from alignsim import Batch, Layout, Scenario

FIGURES: Mapping[str, Any] = json.loads(Path(__file__).with_name("figures.json").read_text(encoding="utf-8"))
COMPONENTS = {
    "engine": "colossalai-zero-2",
    "precision": "bf16-master",
    "optimizer": "adamw-fused",
    "adapter": "full",
    "recompute": "full",
    "attention": "flash",
    "packing": "equal",
    "layers": "transformers",
}


def scenario(row: Mapping[str, Any]) -> Scenario:
    """Return the run of a row."""
    algorithm: Any = row["algorithm"]
    components: Any = {**COMPONENTS, "loss": f"colossalchat-{row['algorithm'].lower()}"}
    models: Any = {"policy": "Llama-2-7B"}
    return Scenario(
        algorithm=algorithm,
        models=models,
        components=components,
        layout=Layout(data=row["gpus"]),
        batch=Batch(micro_batch=row["micro_batch"], sequence_tokens=2048, prompt_tokens=0),
        givens={"policy.offload_optimizer": row["offload_optimizer"]},
    )


def predicted() -> Iterator[tuple[Mapping[str, Any], float, str]]:
    """Yield every row that is not left out, its prediction in MiB, and the event that is the largest."""
    for row in FIGURES["rows"]:
        if "left_out" not in row:
            result = scenario(row).result
            yield row, float(result.value("allocated")) / 2**20, result.binding.event
