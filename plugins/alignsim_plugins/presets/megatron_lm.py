"""Megatron-LM, and Megatron-Bridge over it: fine-tuning with a distributed optimizer."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl

ARGUMENTS = "Megatron-LM d98e8a64: training/arguments.py"

CHOICES = (
    Choice(
        components={"engine": "megatron", "layers": "megatron", "attention": "megatron-fused", "adapter": "full"},
        source=f"{ARGUMENTS}, transformer_impl transformer_engine, attention_backend auto",
    ),
    Choice(
        components={"precision": "megatron-bf16", "optimizer": "megatron-adam"},
        source=f"{ARGUMENTS}, bf16 with accumulate_allreduce_grads_in_fp32; TransformerEngine's FusedAdam",
    ),
    Choice(
        components={"recompute": "none", "packing": "padded", "loss": "megatron-d98e8a6"},
        source=f"{ARGUMENTS}, recompute_granularity None; vocab_parallel_cross_entropy",
    ),
)

MEGATRON_LM = Preset(
    name="megatron-lm-2026.08",
    framework="Megatron-LM",
    version="d98e8a64",
    aliases=("megatron-lm", "megatron"),
    algorithms=("SFT",),
    only={"engine": "megatron", "layers": "megatron"},
    choices=CHOICES,
    source="Megatron-LM d98e8a64, TransformerEngine 2.11",
    asks=(
        "micro_batch, sequence_tokens: micro-batches of 1 by default there",
        "distributed_optimizer: 0 where use_distributed_optimizer is not given, as Megatron-LM itself has it",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer Megatron-LM."""
    yield MEGATRON_LM
