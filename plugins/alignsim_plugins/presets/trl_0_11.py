"""TRL 0.11: whole logits and a log-softmax of all of them, over transformers 4.44."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl
from alignsim_plugins.presets.accelerate import LAUNCHED, references

PAIRS = ("DPO", "IPO", "cDPO")

CHOICES = (
    Choice(
        components={"engine": "ddp", "layers": "transformers", "attention": "sdpa", "adapter": "full"},
        source="accelerate launch without a configuration: DistributedDataParallel; transformers: attn_implementation",
    ),
    Choice(
        components={"recompute": "none"},
        source="transformers 4.44: TrainingArguments, gradient_checkpointing False",
    ),
    *LAUNCHED,
    *references("TRL 0.11"),
    Choice(
        components={"optimizer": "adamw-foreach", "packing": "padded"},
        batch={"micro_batch": 8},
        source="transformers 4.44: TrainingArguments, optim=adamw_torch, per_device_train_batch_size",
    ),
    Choice(
        components={"loss": "transformers-4.44"},
        algorithms="SFT",
        source="transformers 4.44: the model's own loss, of 32-bit logits",
    ),
    Choice(
        components={"loss": "score"},
        algorithms="RM",
        source="TRL 0.11: reward_trainer.py, AutoModelForSequenceClassification",
    ),
    Choice(
        components={"loss": "naive-fp32"},
        algorithms=PAIRS,
        source="TRL 0.11: dpo_trainer.py, get_batch_logps; transformers 4.44: 32-bit logits",
    ),
    Choice(
        components={"loss": "trl-cpo-gather"},
        algorithms=("CPO", "ORPO"),
        source="TRL up to 0.13: cpo_trainer.py and orpo_trainer.py, get_batch_logps",
    ),
)

TRL_0_11 = Preset(
    name="trl-0.11",
    framework="TRL",
    version="0.11",
    algorithms=("SFT", "RM", *PAIRS, "CPO", "ORPO"),
    choices=CHOICES,
    source="TRL 0.11, transformers 4.44",
    asks=(
        "precision: without DeepSpeed and FSDP, bf16 where torch_dtype=bfloat16 was passed, else autocast-fp32 or fp32",
        "sequence_tokens, prompt_tokens: max_length and max_prompt_length, which differ between its trainers",
        "engine: what the launch file says: fsdp1, zero-2, zero-3; ddp without one",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer TRL 0.11."""
    yield TRL_0_11
