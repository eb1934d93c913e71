"""The reference case's own set-up: Llama-2-70B with a 13B critic on 32 devices a replica."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from alignsim import Architecture, Registry, hookimpl
from alignsim_plugins.scenarios.alignment_memory import AlignmentMemoryScenario


def _nominal(registry: Registry, name: str, parameters: int) -> Architecture:
    """Return a catalogue model with the round count of its name, as the reference case has it."""
    exact = registry.architectures[name]
    return attrs.evolve(
        exact,
        name=f"{name}-nominal",
        aliases=(),
        recorded=None,
        parameters=parameters,
        sources={**exact.sources, "parameters": "nominal, the number in the model's name"},
    )


@hookimpl
def alignsim_scenarios(registry: Registry) -> Iterator[AlignmentMemoryScenario]:
    """Offer the reference case."""
    yield AlignmentMemoryScenario(
        name="Llama2_70B_PpoAlignment",
        policy=_nominal(registry, "Llama-2-70B", 70_000_000_000),
        critic=_nominal(registry, "Llama-2-13B", 13_000_000_000),
        tp_size=8,
        pp_size=4,
        dp_size=8,
        rollout_sequences=256,
        rollout_tokens=1024,
        device_memory="80 GB",
        registry=registry,
    )
