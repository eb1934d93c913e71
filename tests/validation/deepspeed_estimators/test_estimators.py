"""DeepSpeed's own estimates of model states on a device and on a node, from the terms of these engines.

An estimate is what is held between steps and the gradient that is stepped; in stage 2 the gradient as it was made too,
in stage 3 the largest layer with its gradient. On the host it takes 1.5 of the same, without what gradients are added
up in. What it says of the host while a model loads is left out: processes that load one each in 32 bits, or in stage 3
layer by layer.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from alignsim import Architecture, Layout, Scenario

FIGURES = json.loads(Path(__file__).with_name("figures.json").read_text(encoding="utf-8"))
TOOL, DOCS = FIGURES["tool"], FIGURES["docs"]
BUFFERS = 1.5
BOTH = 4
"""Bytes of a parameter and of its gradient, in 16 bits."""


def values(model: Any, row: Any, ranks: int) -> Any:
    components: Any = {"precision": "bf16-master", "optimizer": "adamw-fused", "adapter": "full", "*": "none"}
    algorithm: Any = "SFT"
    options = {f"policy.{name}": row[name] for name in ("offload_optimizer", "offload_param")}
    return Scenario(
        algorithm=algorithm,
        models={"policy": model},
        components={**components, "engine": f"zero-{row['stage']}"},
        layout=Layout(data=ranks),
        givens=options,
    ).result.values


def on_device(found: Any, row: Any, largest_layer: float) -> float:
    names = ("held_weights", "held_master_weights", "held_optimizer_state")
    stays = 1 - row["offload_optimizer"]
    made = found["policy.gradients"] if row["stage"] < 3 else 0
    gradients = made + found["policy.trainable_parameters"] * found["policy.stepped_bytes"]
    layer = BOTH * largest_layer if row["stage"] == 3 else 0
    held = sum(found[f"policy.{name}"] for name in names)
    return float(held + stays * gradients / found["policy.gradient_shards"] + layer)


@pytest.mark.parametrize(
    "row",
    TOOL["rows"],
    ids=lambda r: f"{r['model']}-{r['stage']}-{r['nodes']}-{r['offload_optimizer']}{r['offload_param']}",
)
def test_the_tool_to_the_byte(row: Any):
    found = values(row["model"], row, TOOL["devices_per_node"] * row["nodes"])
    largest = found[f"{{{row['model']}}}.embedding_matrix"]
    assert int(on_device(found, row, largest)) == row["gpu"]
    if row["stage"] == 3 and row["offload_optimizer"]:
        names = ("weights_on_host", "stepped_on_host", "optimizer_state_on_host")
        host = sum(found[f"policy.{name}"] for name in names) * TOOL["devices_per_node"]
        assert int(BUFFERS * host) == row["cpu"]


@pytest.mark.parametrize(
    "row", DOCS["rows"], ids=lambda r: f"{r['stage']}-{r['offload_optimizer']}{r['offload_param']}"
)
def test_the_documentation_to_the_printed_digits(row: Any):
    model = Architecture(
        name="t5-3b", parameters=int(DOCS["parameters"]), layers=2, hidden=8, heads=2, ffn=8, vocab=8, source="the page"
    )
    found = on_device(values(model, row, DOCS["ranks"]), row, DOCS["largest_layer"]) / 2**30
    assert abs(Decimal(found) - Decimal(row["printed"])) <= Decimal("0.005")
