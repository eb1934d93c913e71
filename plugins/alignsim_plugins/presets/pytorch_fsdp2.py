"""Plain PyTorch: fully_shard on every layer and on the model, for a training loop of one's own."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl

CHOICES = (
    Choice(
        components={"engine": "fsdp2", "precision": "bf16-gathered", "optimizer": "adamw-foreach"},
        source="torch 2.13: fully_shard, MixedPrecisionPolicy(param_dtype=torch.bfloat16) over 32 bits; AdamW, foreach",
    ),
    Choice(
        components={"layers": "transformers", "attention": "sdpa", "adapter": "full", "recompute": "none"},
        source="transformers 5.24: a model as it is loaded",
    ),
    Choice(components={"packing": "padded"}, source="transformers: DataCollatorWithPadding"),
    Choice(components={"loss": "cross-entropy"}, algorithms="SFT", source="transformers 5.24: ForCausalLMLoss"),
    Choice(
        components={"loss": "naive"},
        algorithms=("DPO", "IPO", "cDPO", "ORPO", "SimPO", "CPO"),
        source="Rafailov et al. 2023: _get_batch_logps",
    ),
)

PYTORCH_FSDP2 = Preset(
    name="pytorch-fsdp2",
    framework="PyTorch FSDP2",
    version="torch 2.13",
    aliases=("fsdp2",),
    algorithms=("SFT", "DPO", "IPO", "cDPO", "ORPO", "SimPO", "CPO"),
    only={"engine": ("fsdp2", "fsdp2-tensor", "fsdp2-cpu-offload")},
    choices=CHOICES,
    source="torch 2.13, transformers 5.24",
    asks=(
        "micro_batch, sequence_tokens: a loop of one's own says them",
        "reduce_bytes: 4 with MixedPrecisionPolicy(reduce_dtype=torch.float32)",
        "reference.engine: fsdp2-same-weights where adapters are switched off for it, fsdp2-one-unit where it is one "
        "unit",
        "wraps_embedding, wraps_head: 1 where they are units of their own",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer plain FSDP2."""
    yield PYTORCH_FSDP2
