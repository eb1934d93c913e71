"""Small steps with parts of the model frozen, as real code was seen to hold them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from alignsim import Architecture, Batch, Scenario

FIGURES = json.loads(Path(__file__).with_name("figures.json").read_text("utf-8"))
INPUTS = {"frozen-layers": "frozen_layers", "last-layers": "last_layers"}
MOMENTS = {
    "forward": ("forward_layers", "forward_head", "loss"),
    "backward": ("backward_loss", "backward_head", "backward_last_layer", "backward_first_layer", "backward_end"),
    "optimizer": ("optimizer_step",),
}
CLOSE = 5e-4
SHORT = 3e-3
"""Of few tokens, gradients are what there is most of when the last norm is done with: it holds less than is said."""

AUTOCAST = 1.1e-2
"""Where no logits are larger: casts of a layer's last matrix are said to be there before they are made."""


def scenario(case: dict[str, Any]) -> Scenario:
    """Return the run that a case measured."""
    s = {**FIGURES["defaults"], **case}
    shape = {**FIGURES["shape"], "tied": s["tied"], "head": "scalar" if s["scalar"] else "language-model"}
    if "fp32" in s["precision"]:
        shape["kv_heads"] = shape["heads"]
    return Scenario(
        algorithm="RM" if s["scalar"] else "SFT",
        models={"reward" if s["scalar"] else "policy": Architecture(name="small", **shape)},
        components={
            "precision": s["precision"],
            "optimizer": "adamw-foreach",
            "adapter": s["adapter"],
            "recompute": "full" if s["recompute"] else "none",
            "attention": "sdpa",
            "loss": "score" if s["scalar"] else "cross-entropy",
            "engine": "single-device",
            "layers": "transformers",
            "packing": "equal",
        },
        batch=Batch(micro_batch=s["batch"], sequence_tokens=s["sequence"], accumulation_steps=s["steps"]),
        givens={
            "input_bytes": 8,
            "rows_per_sample": 1,
            **({INPUTS[s["adapter"]]: s["layers"]} if s["adapter"] in INPUTS else {}),
        },
    )


@pytest.mark.parametrize("row", FIGURES["rows"], ids=[json.dumps(row["case"]) for row in FIGURES["rows"]])
def test_phases_as_measured(row):
    result = scenario(row["case"]).result
    role = result.graph.parts.algorithm.roles[0]
    told = {
        phase: max(result.value(f"update:{role}/{moment}.allocated") for moment in moments)
        for phase, moments in MOMENTS.items()
    }
    close = dict.fromkeys(MOMENTS, CLOSE)
    if "sequence" in row["case"]:
        close["backward"] = SHORT
    if row["case"].get("scalar") and row["case"].get("precision") == "autocast-fp32":
        close["forward"] = AUTOCAST
    off = {phase: told[phase] / row["peaks"][phase] - 1 for phase in MOMENTS}
    assert all(abs(off[phase]) <= close[phase] for phase in MOMENTS), off
