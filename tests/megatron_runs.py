"""Small runs under Megatron, and what every stage of a pipeline has, counted stage by stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alignsim import Architecture, Batch, Layout, Scenario, default_registry

COMPONENTS = {
    "precision": "megatron-bf16",
    "optimizer": "megatron-adam",
    "adapter": "full",
    "recompute": "none",
    "attention": "megatron-fused",
    "packing": "equal",
    "loss": "megatron-d98e8a6",
    "layers": "megatron",
    "engine": "megatron",
}


def model(layers: int = 8, **shape: Any) -> Architecture:
    """Return a small model with grouped heads."""
    usual: dict[str, Any] = {"hidden": 256, "heads": 8, "kv_heads": 4, "ffn": 704, "vocab": 1000}
    return Architecture(name="small", layers=layers, **{**usual, **shape})


def run(
    shape: Architecture | None = None,
    layout: Layout | None = None,
    steps: int = 4,
    components: Mapping[str, Any] | None = None,
    algorithm: str = "SFT",
    **givens: Any,
) -> Scenario:
    """Return a training run of it under Megatron."""
    return Scenario(
        algorithm=algorithm,
        models={default_registry().algorithms[algorithm].roles[0]: shape or model()},
        components={**COMPONENTS, **(components or {})},
        layout=layout or Layout(),
        batch=Batch(micro_batch=2, sequence_tokens=64, prompt_tokens=32, accumulation_steps=steps),
        givens=givens,
    )


def pieces(layers: int, layout: Layout) -> list[list[int]]:
    """The layers of every virtual piece of every stage, dealt out one by one: ``pieces[stage][piece]``."""
    if layout.pipeline == 1:
        return [[layers]]
    first, last, v = layout.first_stage_layers, layout.last_stage_layers, layout.virtual
    slots = layers + layout.embedding_in_split + layout.loss_in_split - first - last
    others = layout.pipeline - bool(first) - bool(last)
    even = slots // others if others else 0
    dealt = []
    for stage in range(layout.pipeline):
        own = even
        if stage == 0 and first:
            own = first
        if stage == layout.pipeline - 1 and last:
            own = last
        dealt.append([own // v] * v)
    dealt[0][0] -= layout.embedding_in_split
    dealt[-1][-1] -= layout.loss_in_split
    return dealt


def most_in_flight(layout: Layout, stage: int, own: list[int], steps: int) -> tuple[int, int]:
    """Run the schedule of one stage, forward by forward; the most layers that wait, at all and just after the loss."""
    v, group = layout.virtual, layout.micro_batch_group or layout.pipeline
    order = [
        piece for begin in range(0, steps, group) for piece in range(v) for _ in range(begin, min(begin + group, steps))
    ]
    behind = layout.pipeline - 1 - stage
    warm = min(len(order), (v - 1) * group + 2 * behind if v > 1 else behind)
    waiting = most = at_loss = 0
    for i, piece in enumerate(order):
        waiting += own[piece]
        most = max(most, waiting)
        if piece == v - 1:
            at_loss = max(at_loss, waiting)
        if i >= warm:
            waiting -= own[v - 1 - order[i - warm]]
    return most, at_loss
