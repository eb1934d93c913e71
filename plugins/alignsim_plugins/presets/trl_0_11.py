"""TRL 0.11: whole logits and a log-softmax of all of them, over transformers 4.44."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl
from alignsim_plugins.presets.accelerate import LAUNCHED, references, whole

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
    Choice(
        components={"precision": "fp32"},
        source="transformers 4.44: from_pretrained in 32 bits unless torch_dtype is passed; TrainingArguments, "
        "bf16=False",
    ),
    *LAUNCHED,
    *references("TRL 0.11"),
    whole("reference", "TRL 0.11: dpo_trainer.py", PAIRS),
    Choice(
        components={"optimizer": "adamw-foreach", "packing": "padded"},
        batch={"micro_batch": 8},
        source="transformers 4.44: TrainingArguments, optim=adamw_torch, per_device_train_batch_size",
    ),
    Choice(
        components={"loss": "transformers-4.44"},
        batch={"sequence_tokens": 1024},
        algorithms="SFT",
        source="transformers 4.44: the model's own loss, of 32-bit logits; TRL 0.11: sft_trainer.py, max_seq_length "
        "1024 where the tokenizer allows it",
    ),
    Choice(
        components={"loss": "score"},
        batch={"sequence_tokens": 512},
        algorithms="RM",
        source="TRL 0.11: reward_trainer.py, max_length 512; AutoModelForSequenceClassification",
    ),
    Choice(
        components={"loss": "naive-fp32"},
        batch={"sequence_tokens": 512, "prompt_tokens": 128},
        algorithms=PAIRS,
        source="TRL 0.11: dpo_trainer.py, get_batch_logps, max_length 512 and max_prompt_length 128 unless said; "
        "transformers 4.44: 32-bit logits",
    ),
    Choice(
        components={"loss": "trl-cpo-gather"},
        batch={"sequence_tokens": 512, "prompt_tokens": 128},
        algorithms=("CPO", "ORPO"),
        source="TRL up to 0.13: cpo_trainer.py and orpo_trainer.py, get_batch_logps; 0.11: max_length 512 and "
        "max_prompt_length 128 unless said",
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
        "engine: what the launch file says: fsdp1, zero-2, zero-3; ddp without one",
        "precision: autocast-fp32 with bf16=True, bf16 where torch_dtype=bfloat16 was passed; under DeepSpeed and FSDP "
        "mixed_precision is taken to be bf16",
    ),
    left_out=("KTO, online DPO, PPO and RLOO, whose losses of this version have no loss path here",),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer TRL 0.11."""
    yield TRL_0_11
