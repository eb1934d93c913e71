"""A small supervised run on one device, varied in one choice at a time."""

from __future__ import annotations

import inspect
from typing import Any

from alignsim import Algorithm, Architecture, Batch, Const, Scenario, Term, default_registry

SHAPE = {"layers": 3, "hidden": 128, "heads": 4, "kv_heads": 2, "ffn": 384, "vocab": 64}
CHOICES = {
    "precision": "bf16",
    "optimizer": "adamw-fused",
    "adapter": "full",
    "recompute": "none",
    "attention": "sdpa",
    "loss": "cross-entropy",
    "engine": "single-device",
    "layers": "transformers",
    "packing": "equal",
}


def small_run(shape: Any = (), *, tokens: int = 64, rows: int = 1, **choices: Any) -> Scenario:
    """Return a run; what is not a slot is an input of the graph."""
    slots = {name: choices.pop(name) for name in tuple(choices) if name in CHOICES}
    run = Scenario(
        algorithm="SFT",
        models={"policy": Architecture(name="small", **{**SHAPE, **dict(shape)})},
        components={**CHOICES, **slots},
        batch=Batch(micro_batch=rows, sequence_tokens=tokens, prompt_tokens=0),
    )
    return run.using(**choices) if choices else run


def held(run: Scenario, moment: str) -> float:
    """Return what the device holds at a moment of the update."""
    return float(run.result.value(f"update:policy/{moment}.allocated"))


def worked(term: Term, *values: Any, **named: Any) -> Any:
    """Return what a term gives for plain numbers, with its own constants for what is left out."""
    parameters = inspect.signature(term.formula.function).parameters.values()
    constants = {p.name: p.default.as_given().value for p in parameters if isinstance(p.default, Const)}
    bound = inspect.signature(term.formula.function).bind_partial(*values, **named)
    return term(**{**constants, **bound.arguments})


def losses(algorithm: Algorithm, preferred: str = "", registry: Any = None) -> dict[str, str]:
    """Return, by place, a loss path of a kind that an algorithm works with: the preferred one where it is of that."""
    paths = [c for c in (registry or default_registry()).components.values() if c.slot.name == "loss"]
    paths.sort(key=lambda path: path.name != preferred)
    return {
        place: next(path.name for path in paths if path.kinds.intersection(kinds))
        for place, kinds in algorithm.needs.items()
    }
