"""Megatron-LM with bf16: causal training of sequences of one length, for which its arguments have defaults."""

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
        source=f"{ARGUMENTS}, bf16, which sets accumulate_allreduce_grads_in_fp32; TransformerEngine's FusedAdam",
    ),
    Choice(
        givens={"distributed_optimizer": 0},
        source=f"{ARGUMENTS}, use_distributed_optimizer: off unless given",
    ),
    Choice(
        givens={"hidden_dropout": 0.1},
        where={"layers": "megatron"},
        source=f"{ARGUMENTS}, hidden_dropout: 0.1",
    ),
    Choice(
        components={"recompute": "none", "packing": "equal", "loss": "megatron-d98e8a6"},
        source=f"{ARGUMENTS}, recompute_granularity None, cross_entropy_loss_fusion off; core/datasets/gpt_dataset.py",
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
    about="A run with bf16; without it, Megatron-LM trains in 32 bits.",
    asks=(
        "micro_batch, sequence_tokens: micro_batch_size and seq_length have no default",
        "distributed_optimizer: 1 with use_distributed_optimizer, as nearly every run has it",
        "hidden_dropout: 0 as models since Llama are trained",
        "precision: bf16-master with grad_reduce_in_bf16",
        "master_bytes: 2 with use_precision_aware_optimizer, which keeps half of a copy",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer Megatron-LM."""
    yield MEGATRON_LM
