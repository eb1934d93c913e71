"""Megatron-Bridge: fine-tuning over Megatron-Core, as its recipes have in common."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl

COMMON = "Megatron-Bridge 0eca073e: recipes/common.py, _sft_common"

CHOICES = (
    Choice(
        components={
            "engine": "megatron",
            "layers": "megatron",
            "attention": "megatron-fused",
            "adapter": "full",
            "recompute": "none",
        },
        source=f"{COMMON} without peft; recipes/llama: transformer_impl transformer_engine, recompute_granularity None",
    ),
    Choice(
        components={"precision": "megatron-bf16", "optimizer": "megatron-adam"},
        source=f"{COMMON}, mixed_precision bf16_mixed, which sets grad_reduce_in_fp32",
    ),
    Choice(
        givens={"distributed_optimizer": 1},
        source=f"{COMMON}: distributed_fused_adam_with_cosine_annealing, use_distributed_optimizer",
    ),
    Choice(
        components={"packing": "packed"},
        batch={"micro_batch": 1, "sequence_tokens": 2048},
        source=f"{COMMON}: enable_offline_packing, micro_batch_size=1, seq_length=2048",
    ),
    Choice(
        components={"loss": "megatron-d98e8a6"},
        source="Megatron-Bridge: recipes/llama, cross_entropy_fusion_impl native for fine-tuning",
    ),
)

MEGATRON_BRIDGE = Preset(
    name="megatron-bridge-2026.08",
    framework="Megatron-Bridge",
    version="0eca073e",
    aliases=("megatron-bridge",),
    algorithms=("SFT",),
    only={"engine": "megatron", "layers": "megatron"},
    choices=CHOICES,
    source="Megatron-Bridge 0eca073e, Megatron-LM d98e8a64",
    asks=(
        "layout: a recipe of a model has its own, such as 2 tensor ranks for Llama-3-8B",
        "sequence_tokens: a recipe of a model has its own, such as 4096 for Llama-3-8B",
        "loss: megatron-te-cross-entropy with cross_entropy_fusion_impl te",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer Megatron-Bridge."""
    yield MEGATRON_BRIDGE
