"""What accelerate's launch files mean for trainers that run under it: choices that presets share."""

from __future__ import annotations

from alignsim import Choice

ZERO = ("zero", "zero-1", "zero-2", "zero-3")
FSDP = ("fsdp1", "fsdp2", "fsdp1-cpu-offload", "fsdp2-cpu-offload")
ALONE = ("ddp", "single-device", "zero-1", "zero-2")
LORA = ("lora", "qlora", "dora")

LAUNCHED = (
    Choice(
        components={"precision": "bf16-master"},
        where={"engine": ZERO},
        source="DeepSpeed: bf16.enabled=auto, the engine casts and keeps a copy in 32 bits",
    ),
    Choice(
        components={"precision": "bf16-gathered"},
        where={"engine": FSDP},
        source="accelerate: mixed_precision bf16 under FSDP, trained weights in 32 bits",
    ),
)
"""Formats under DeepSpeed and FSDP; without them a trainer's own."""

SWITCHED_OFF = "no reference model is made where the policy has adapters; they are switched off"


def references(trainer: str) -> tuple[Choice, ...]:
    """Return how a trainer of TRL's kind holds its reference."""
    return (
        Choice(
            components={"reference.engine": "zero-inference"},
            where={"engine": "zero-3"},
            source=f"{trainer}: models/utils.py, prepare_deepspeed: stage 3 where training is of stage 3",
        ),
        Choice(
            components={"reference.engine": "zero-replica"},
            where={"engine": ("zero-1", "zero-2")},
            source=f"{trainer}: models/utils.py, prepare_deepspeed: stage 0, a whole copy on every device",
        ),
        Choice(
            components={"reference.engine": "same-weights"},
            where={"adapter": LORA, "engine": ALONE},
            source=f"{trainer}: {SWITCHED_OFF}",
        ),
        Choice(
            components={"reference.engine": "zero-3-same-weights"},
            where={"adapter": LORA, "engine": "zero-3"},
            source=f"{trainer}: {SWITCHED_OFF}",
        ),
        Choice(
            components={"reference.engine": "fsdp2-same-weights"},
            where={"adapter": LORA, "engine": "fsdp2"},
            source=f"{trainer}: {SWITCHED_OFF}",
        ),
        Choice(
            components={"reference.engine": "fsdp1-same-weights"},
            where={"adapter": LORA, "engine": "fsdp1"},
            source=f"{trainer}: {SWITCHED_OFF}",
        ),
    )
