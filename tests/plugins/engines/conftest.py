"""Runs of one engine or another, all else equal."""

from __future__ import annotations

import pytest

from alignsim import Batch, Layout, Scenario

BASE = {
    "precision": "bf16",
    "optimizer": "adamw-foreach",
    "adapter": "full",
    "recompute": "full",
    "attention": "sdpa",
    "packing": "equal",
    "loss": "cross-entropy",
    "layers": "transformers",
}
MOMENTS = (
    "forward_layers",
    "forward_head",
    "loss",
    "backward_loss",
    "backward_head",
    "backward_last_layer",
    "backward_first_layer",
    "backward_end",
    "optimizer_step",
)


class Run:
    """A training step of an engine."""

    moments = MOMENTS

    def __init__(self, engine, *, data=1, algorithm="SFT", model="Qwen2.5-0.5B", layout=None, steps=1, **more):
        components = {name: more.pop(name) for name in (*BASE, "rollout") if name in more}
        self.scenario = Scenario(
            algorithm=algorithm,
            models={"policy": model},
            components={**BASE, "engine": engine, **components},
            layout=layout or Layout(data=data),
            batch=Batch(micro_batch=2, sequence_tokens=512, prompt_tokens=256, accumulation_steps=steps),
            givens=more,
        )
        self.result = self.scenario.result

    def at(self, moment, role="policy"):
        return self.result.value(f"update:{role}/{moment}.allocated")

    def held(self, name):
        for path in (f"policy.{name}", f"update:policy.{name}"):
            if path in self.result.values:
                return self.result.values[path]
        raise KeyError(name)


@pytest.fixture
def run():
    return Run
