"""What accelerate's launch files mean for trainers that run under it: choices that presets share."""

from __future__ import annotations

from alignsim import Choice

ZERO = ("zero", "zero-1", "zero-2", "zero-3")
FSDP = ("fsdp1", "fsdp2", "fsdp1-cpu-offload", "fsdp2-cpu-offload")
ALONE = ("ddp", "single-device", "zero-1", "zero-2")
LORA = ("lora", "qlora", "dora")
FULL = ("full", "frozen-layers", "last-layers", "head-only")

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


def frozen(role: str, source: str, algorithms: tuple[str, ...] = ()) -> tuple[Choice, ...]:
    """Return how a trainer of TRL's kind holds a model that it does not train, under DeepSpeed."""
    return (
        Choice(
            components={f"{role}.engine": "zero-inference"},
            algorithms=algorithms,
            where={"engine": "zero-3"},
            source=f"{source}, prepare_deepspeed: stage 3 where training is of stage 3",
        ),
        Choice(
            components={f"{role}.engine": "zero-replica"},
            algorithms=algorithms,
            where={"engine": ("zero-1", "zero-2")},
            source=f"{source}, prepare_deepspeed: stage 0, a whole copy on every device",
        ),
    )


def whole(role: str, source: str, algorithms: tuple[str, ...]) -> Choice:
    """Return that a model which is not trained is whole on every device under FSDP, in 32 bits as it was loaded."""
    return Choice(
        components={f"{role}.engine": "single-device", f"{role}.precision": "autocast-fp32"},
        algorithms=algorithms,
        where={"engine": ("fsdp1", "fsdp2"), "adapter": FULL},
        source=f"{source}; accelerate: prepare_model(evaluation_mode=True) shards nothing",
    )


def references(trainer: str) -> tuple[Choice, ...]:
    """Return how a trainer of TRL's kind holds its reference."""
    return (
        *frozen("reference", f"{trainer}: models/utils.py"),
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
