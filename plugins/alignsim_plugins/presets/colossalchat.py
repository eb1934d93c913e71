"""ColossalChat: whole logits of every forward, under ColossalAI's ZeRO."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl

CHAT = "ColossalAI 4f9953be: applications/ColossalChat"
LOSSES = {
    "SFT": ("colossalchat-sft", "coati/trainer/sft.py"),
    "DPO": ("colossalchat-dpo", "coati/trainer/dpo.py"),
    "SimPO": ("colossalchat-simpo", "coati/trainer/dpo.py"),
    "ORPO": ("colossalchat-orpo", "coati/trainer/orpo.py"),
    "KTO": ("colossalchat-kto", "coati/trainer/kto.py"),
}

CHOICES = (
    Choice(
        components={"layers": "transformers", "adapter": "full", "recompute": "none", "packing": "padded"},
        source=f"{CHAT}/examples/training_scripts, lora_config None, grad_checkpoint off unless asked for",
    ),
    Choice(
        components={"precision": "bf16-master", "optimizer": "adamw-fused"},
        source=f"{CHAT}/examples/training_scripts, mixed_precision fp16 or bf16; HybridAdam, which is fused",
    ),
    Choice(
        batch={"micro_batch": 4, "sequence_tokens": 2048},
        algorithms=("DPO", "SimPO", "ORPO", "KTO"),
        source=f"{CHAT}/examples/training_scripts/train_dpo.py, train_orpo.py and train_kto.py, batch_size 4, "
        "max_length 2048",
    ),
    Choice(
        batch={"micro_batch": 4, "sequence_tokens": 512},
        algorithms="SFT",
        source=f"{CHAT}/examples/training_scripts/train_sft.py, batch_size 4, max_len 512",
    ),
    Choice(
        components={"reference.engine": "single-device"},
        source=f"{CHAT}/examples/training_scripts: a whole reference on every device",
    ),
    *(
        Choice(components={"loss": loss}, algorithms=name, source=f"{CHAT}/{where}: all logits")
        for name, (loss, where) in LOSSES.items()
    ),
)

COLOSSALCHAT = Preset(
    name="colossalchat-0.4",
    framework="ColossalChat",
    version="0.4 (4f9953be)",
    aliases=("colossalchat",),
    algorithms=tuple(LOSSES),
    only={"engine": ("colossalai-zero-2", "ddp", "single-device")},
    choices=CHOICES,
    source=CHAT,
    asks=(
        "engine: colossalai-zero-2 with plugin zero2; gemini, which is the default, and 3d are not described here",
        "attention: flash with use_flash_attn, else what transformers chooses",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer ColossalChat."""
    yield COLOSSALCHAT
