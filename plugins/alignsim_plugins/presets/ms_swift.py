"""ms-swift: trainers over transformers and TRL, with adapters unless it is told otherwise."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl
from alignsim_plugins.presets.accelerate import LAUNCHED, references

PAIRS = ("DPO", "IPO", "cDPO")
ARGUMENTS = "ms-swift 00f5f5d4: llm/argument"

CHOICES = (
    Choice(
        components={"engine": "ddp", "layers": "transformers", "attention": "sdpa", "recompute": "full"},
        source=f"{ARGUMENTS}/train_args.py, gradient_checkpointing True; torchrun; transformers: attn_implementation",
    ),
    Choice(components={"adapter": "lora"}, source=f"{ARGUMENTS}/tuner_args.py, train_type lora, all-linear"),
    Choice(
        components={"precision": "autocast-bf16"},
        source=f"{ARGUMENTS}/base_args/model_args.py, torch_dtype of the model's config: bfloat16, and bf16",
    ),
    *LAUNCHED,
    *references("ms-swift, and TRL"),
    Choice(
        components={"optimizer": "adamw-foreach", "packing": "padded"},
        batch={"micro_batch": 1},
        source=f"{ARGUMENTS}/train_args.py, per_device_train_batch_size 1, packing False; optim=adamw_torch",
    ),
    Choice(components={"loss": "cross-entropy"}, algorithms="SFT", source="ms-swift: trainers, the model's own loss"),
    Choice(
        components={"loss": "trl-dpo"}, algorithms=PAIRS, source="ms-swift: trainers/rlhf_trainer, over TRL's trainer"
    ),
    Choice(
        components={"loss": "trl-kto"}, algorithms="KTO", source="ms-swift: trainers/rlhf_trainer, over TRL's trainer"
    ),
    Choice(
        components={"loss": "trl-cpo"},
        algorithms=("CPO", "ORPO"),
        source="ms-swift: trainers/rlhf_trainer, over TRL's trainer",
    ),
)

MS_SWIFT = Preset(
    name="ms-swift-3",
    framework="ms-swift",
    version="3 (00f5f5d4)",
    aliases=("ms-swift", "swift"),
    algorithms=("SFT", *PAIRS, "KTO", "CPO", "ORPO"),
    choices=CHOICES,
    source="ms-swift 00f5f5d4: llm/argument",
    asks=(
        "sequence_tokens: max_length is the model's own unless said",
        "engine: zero-2 or zero-3 where --deepspeed names one",
    ),
    left_out=("GRPO and Megatron-SWIFT, which are not described here",),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer ms-swift."""
    yield MS_SWIFT
