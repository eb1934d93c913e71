"""verl of August 2026: engines in place of workers, which reduce gradients once a step; FSDP unless told."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl
from alignsim_plugins.presets.verl import ASKS, FSDP, SAMPLING, of

VERL_2026_08 = Preset(
    name="verl-2026.08",
    framework="verl",
    version="August 2026 (1dda039b)",
    aliases=("verl",),
    algorithms=SAMPLING,
    only={"engine": (*FSDP, "megatron")},
    choices=(
        *of("verl-2026.08", "1dda039b"),
        Choice(
            givens={"no_sync": 1},
            where={"engine": FSDP},
            source="verl 1dda039b: workers/engine/fsdp, _gradient_sync_context: only the last micro-batch is reduced",
        ),
    ),
    source="verl 1dda039b, August 2026: workers/engine/fsdp, trainer/config",
    asks=ASKS,
    left_out=("the second engine that serves a generative reward model",),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer verl of August 2026."""
    yield VERL_2026_08
