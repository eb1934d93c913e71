"""verl of January 2026: one process a device for actor, critic and reference, vLLM beside it; FSDP unless told."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl
from alignsim_plugins.presets.verl import ASKS, CONFIG, FSDP, SAMPLING, of

VERL_2026_01 = Preset(
    name="verl-2026.01",
    framework="verl",
    version="January 2026 (b178a3cd)",
    aliases=("verl-legacy",),
    algorithms=SAMPLING,
    only={"engine": (*FSDP, "megatron")},
    choices=(
        *of("verl-2026.01", "b178a3cd"),
        Choice(
            givens={"generator.max_sequences": 1024},
            where={"rollout": ("vllm", "vllm-offloading", "vllm-awake", "vllm-0.9")},
            source=f"{CONFIG}/rollout/rollout.yaml, max_num_seqs: 1024",
        ),
    ),
    source="verl b178a3cd, January 2026: workers/fsdp_workers.py, workers/megatron_workers.py, trainer/config",
    asks=ASKS,
    left_out=("the second engine that serves a generative reward model",),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer verl of January 2026."""
    yield VERL_2026_01
