"""Muon on the matrices of layers, AdamW on all else: embeddings, head, vectors, and stacks of experts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, maths, term
from alignsim_plugins.elements import BF16
from alignsim_plugins.optimizers.slot import OPTIMIZER

SOURCE = "Jordan et al. 2024 (Muon); torch 2.13: torch/optim/_muon.py, which takes parameters of two dimensions"


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def other_parameters(trained_embedding: Any, trained_head: Any, trained_vectors: Any, trained_experts: Any) -> Any:
    """Parameters that AdamW steps."""
    return trained_embedding + trained_head + trained_vectors + trained_experts


@term("byte", per={"role"}, during={"train"}, group="model_state", source=SOURCE)
def optimizer_state(trainable_parameters: Any, other_parameters: Any, moment_bytes: Any) -> Any:
    """One momentum for the matrices of layers, two moments for the rest."""
    return (trainable_parameters + other_parameters) * moment_bytes


@term("byte", per={"role"}, during={"train"}, source=f"{SOURCE}: _zeropower_via_newtonschulz")
def newton_schulz(largest_inner: Any, inner_side: Any, moment_bytes: Any, half: Any = BF16) -> Any:
    """The update, and in 16 bits the iterate, the next one, and two squares of the shorter side."""
    return largest_inner * (moment_bytes + 2 * half) + 2 * half * inner_side * inner_side


@term("byte", per={"role"}, during={"train"}, source="the two optimizers step one after the other")
def step_memory(newton_schulz: Any, other_parameters: Any, moment_bytes: Any) -> Any:
    """Newton-Schulz on the largest matrix, or AdamW's square roots."""
    return maths.maximum(newton_schulz, other_parameters * moment_bytes)


MUON = Component(
    name="muon",
    slot=OPTIMIZER,
    terms=(other_parameters, optimizer_state, newton_schulz, step_memory),
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer Muon."""
    yield MUON
