"""Predicts the rows of figures.json: models of the catalogue, cut to the depth and vocabulary that were measured."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from alignsim import Batch, Case, Scenario
from alignsim_plugins.architectures.published import published

FIGURES = json.loads(Path(__file__).with_name("figures.json").read_text(encoding="utf-8"))
CHOICES: Mapping[str, Any] = {
    "precision": "bf16",
    "optimizer": "adamw-fused",
    "adapter": "full",
    "recompute": "none",
    "loss": "cross-entropy",
    "engine": "single-device",
    "layers": "transformers",
    "packing": "equal",
}
PHASES = {
    "forward": ("forward_layers", "forward_head", "loss"),
    "backward": ("backward_loss", "backward_head", "backward_last_layer", "backward_first_layer", "backward_end"),
    "optimizer": ("optimizer_step",),
}
CAUSES: Mapping[str, str] = {
    "Falcon-7B": "Falcon gives its one head of keys to a kernel that repeats none; on a GPU that is plain arithmetic",
    "Llama-4-Scout": "Llama 4 gives every token to every expert, in one product of batches",
    "gpt-oss-20b": "sinks widen the scores, and gpt-oss writes its activation out as several operations",
    "GPT-J-6B eager": "GPT-J multiplies queries and keys in 32 bits",
}
"""Models, and kernels where only one is meant, that are not modelled; each with what they do."""


def cause(case: Mapping[str, Any]) -> str:
    """Return why a row is off, or nothing."""
    return CAUSES.get(case["model"], CAUSES.get(f"{case['model']} {case['attention']}", ""))


def scenario(case: Mapping[str, Any]) -> Scenario:
    """Return the run that a row measured."""
    model = published()[case["model"]]
    layers = next(value for name, value in case["config"].items() if name != "vocab_size")
    cut = attrs.evolve(
        model,
        layers=layers,
        vocab=case["config"]["vocab_size"],
        window_layers=round(model.window_layers * layers / model.layers),
        recorded=None,
    )
    return Scenario(
        algorithm="SFT",
        models={"policy": cut},
        components={**CHOICES, "attention": case["attention"]},
        batch=Batch(micro_batch=case["rows"], sequence_tokens=case["tokens"], prompt_tokens=0),
    )


def predicted(case: Mapping[str, Any]) -> dict[str, float]:
    """Return the peak of every phase, in bytes."""
    result = scenario(case).result
    return {
        phase: max(float(result.value(f"update:policy/{moment}.allocated")) for moment in moments)
        for phase, moments in PHASES.items()
    }


def cases() -> Iterator[Case]:
    """Yield the rows as cases to compare."""
    for row in FIGURES["rows"]:
        case, peaks = row["case"], row["peaks"]
        yield Case(
            key=" ".join(str(case[name]) for name in ("model", "attention", "rows", "tokens")),
            measured_peak=max(peaks.values()),
            measured_phase=max(peaks, key=peaks.__getitem__),
            measured_phases=peaks,
            predict=lambda case=case: predicted(case),  # type: ignore[misc]
        )
