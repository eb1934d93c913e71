"""SimuMax's measured layouts on eight B200 as runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from alignsim import Architecture, Batch, Layout, Scenario
from megatron_runs import COMPONENTS

FIGURES = json.loads(
    (Path(__file__).parent / "validation" / "simumax_b200" / "figures.json").read_text(encoding="utf-8")
)
GIB = 2**30


def scenario(row: dict[str, Any]) -> Scenario:
    """Return the run of a row; nothing in it is fitted."""
    return Scenario(
        algorithm="SFT",
        models={"policy": Architecture(name=row["model"], layers=row["layers"], **FIGURES["models"][row["model"]])},
        components={**COMPONENTS, "loss": "megatron-te-cross-entropy"},
        layout=Layout(
            tensor=row["tensor"],
            pipeline=row["pipeline"],
            data=row["data"],
            context=row["context"],
            expert=row["expert"],
            sequence_parallel=row["tensor"] > 1,
        ),
        batch=Batch(micro_batch=1, sequence_tokens=row["sequence"], accumulation_steps=4),
        givens=({"context_all_to_all": 1} if row["context"] > 1 else {})
        | ({"expert_capacity_factor": 1} if row["expert"] > 1 else {}),
    )


def predicted(row: dict[str, Any]) -> float:
    """Return the peak in GiB."""
    peak: float = scenario(row).result.value("allocated")
    return peak / GIB


def error(row: dict[str, Any]) -> float:
    """Return predicted over measured, less 1."""
    return predicted(row) / float(row["allocated"]) - 1
