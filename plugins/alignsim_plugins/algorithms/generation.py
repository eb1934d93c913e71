"""Generation alone: one model continues prompts, and nothing is trained."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Algorithm, hookimpl

GENERATION = Algorithm(
    name="Generation",
    phases={"generate": {"policy": "generate"}},
    source="transformers: GenerationMixin.generate, a prefill of the prompts and one step a token",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer generation alone."""
    yield GENERATION
