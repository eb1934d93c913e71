"""LLaMA-Factory: trainers over transformers and TRL, with adapters unless it is told otherwise."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Const, Preset, hookimpl
from alignsim_plugins.presets.accelerate import FULL, LAUNCHED, LORA, references

PAIRS = ("DPO", "IPO", "cDPO")
ARGUMENTS = "LLaMA-Factory 00577a85: hparams"

CHOICES = (
    Choice(
        components={"engine": "ddp", "layers": "transformers", "attention": "sdpa", "recompute": "full"},
        source=f"{ARGUMENTS}/model_args.py, flash_attn auto, disable_gradient_checkpointing False; torchrun",
    ),
    Choice(
        components={"adapter": "lora"},
        source=f"{ARGUMENTS}/finetuning_args.py, finetuning_type lora, lora_target all",
    ),
    Choice(
        givens={"lora_rank": Const(8, source="rank of adapters")},
        where={"adapter": LORA},
        source=f"{ARGUMENTS}/finetuning_args.py, lora_rank 8",
    ),
    Choice(
        components={"precision": "autocast-bf16"},
        where={"adapter": LORA},
        source=f"{ARGUMENTS}: bf16, the base in 16 bits; model/adapter.py: trained weights in 32 bits unless pure_bf16",
    ),
    Choice(
        components={"precision": "autocast-fp32"},
        where={"adapter": FULL},
        source="LLaMA-Factory: bf16; model/adapter.py: trained weights in 32 bits unless pure_bf16",
    ),
    *LAUNCHED,
    *references("LLaMA-Factory, train/trainer_utils.py, and TRL"),
    Choice(
        components={"reference.precision": "autocast-bf16"},
        algorithms=PAIRS,
        where={"adapter": FULL, "engine": ("ddp", "single-device")},
        source="LLaMA-Factory: train/trainer_utils.py, create_ref_model: load_model(is_trainable=False), in 16 bits",
    ),
    Choice(
        components={"reference.engine": "single-device", "reference.precision": "autocast-bf16"},
        algorithms=PAIRS,
        where={"adapter": FULL, "engine": ("fsdp1", "fsdp2")},
        source="LLaMA-Factory: train/dpo/trainer.py, prepare_model(evaluation_mode=True), which shards nothing; "
        "train/trainer_utils.py, create_ref_model: in 16 bits",
    ),
    Choice(
        components={"optimizer": "adamw-foreach", "packing": "padded"},
        batch={"micro_batch": 8, "sequence_tokens": 2048},
        source="transformers: TrainingArguments, adamw_torch, per_device_train_batch_size; data_args.py, cutoff_len",
    ),
    Choice(
        components={"loss": "cross-entropy"},
        algorithms="SFT",
        source="LLaMA-Factory: train/sft/trainer.py, the model's own loss",
    ),
    Choice(
        components={"loss": "naive-fp32"},
        algorithms=(*PAIRS, "ORPO", "SimPO"),
        source="LLaMA-Factory: train/dpo/trainer.py, concatenated_forward: all logits in 32 bits, get_batch_logps",
    ),
)

LLAMA_FACTORY = Preset(
    name="llama-factory-0.9",
    framework="LLaMA-Factory",
    version="0.9 (00577a85)",
    aliases=("llama-factory",),
    algorithms=("SFT", *PAIRS, "ORPO", "SimPO"),
    choices=CHOICES,
    source="LLaMA-Factory 00577a85: hparams, train",
    asks=(
        "precision: bf16 where pure_bf16 is set; bf16 is taken to be asked for, as in its examples",
        "engine: zero-2, zero-3 or fsdp1 where a file of theirs is given",
    ),
    left_out=(
        "reward models and PPO, whose value heads are beside the logits of a language model",
        "KTO, whose log-softmax of whole logits has no loss path for single answers here",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer LLaMA-Factory."""
    yield LLAMA_FACTORY
