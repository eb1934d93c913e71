"""TRL 1.x: trainers over transformers, spread by accelerate; the loss paths are those of 1.16."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl

PREFERENCE = ("DPO", "IPO", "cDPO")
SAMPLING = ("GRPO", "GRPO-No-KL", "RLOO")
LORA = ("lora", "qlora", "dora")

CHOICES = (
    Choice(
        components={
            "engine": "ddp",
            "layers": "transformers",
            "attention": "sdpa",
            "adapter": "full",
        },
        source="accelerate launch without a configuration: DistributedDataParallel; transformers: attn_implementation",
    ),
    Choice(
        components={"recompute": "full"},
        source="TRL 1.x: trainer/base_config.py, gradient_checkpointing=True",
    ),
    Choice(
        components={"precision": "autocast-fp32"},
        source="TRL 1.x: trainer/utils.py, create_model_from_path, in 32 bits; trainer/base_config.py, bf16=True",
    ),
    Choice(
        components={"precision": "bf16-master"},
        where={"engine": ("zero", "zero-1", "zero-2", "zero-3")},
        source="DeepSpeed: bf16.enabled=auto, the engine casts and keeps a copy in 32 bits",
    ),
    Choice(
        components={"precision": "bf16-gathered"},
        where={"engine": ("fsdp1", "fsdp2", "fsdp1-cpu-offload", "fsdp2-cpu-offload")},
        source="accelerate: mixed_precision bf16 under FSDP, trained weights in 32 bits",
    ),
    Choice(
        components={"reference.engine": "zero-inference"},
        algorithms=(*PREFERENCE, "GRPO", "RLOO"),
        where={"engine": "zero-3"},
        source="TRL 1.x: models/utils.py, prepare_deepspeed: stage 3 where training is of stage 3",
    ),
    Choice(
        components={"reference.engine": "zero-replica"},
        algorithms=(*PREFERENCE, "GRPO", "RLOO"),
        where={"engine": ("zero-1", "zero-2")},
        source="TRL 1.x: models/utils.py, prepare_deepspeed: stage 0, a whole copy on every device",
    ),
    Choice(
        components={"reference.engine": "fsdp2-one-unit"},
        algorithms=(*PREFERENCE, "GRPO", "RLOO"),
        where={"engine": "fsdp2"},
        source="TRL 1.x: models/utils.py, prepare_fsdp: one fully_shard of the whole reference",
    ),
    Choice(
        components={"reference.engine": "same-weights"},
        algorithms=(*PREFERENCE, "GRPO", "RLOO"),
        where={"adapter": LORA, "engine": ("ddp", "single-device", "zero-1", "zero-2")},
        source="TRL 1.x: no reference model is made where the policy has adapters; they are switched off",
    ),
    Choice(
        components={"reference.engine": "zero-3-same-weights"},
        algorithms=(*PREFERENCE, "GRPO", "RLOO"),
        where={"adapter": LORA, "engine": "zero-3"},
        source="TRL 1.x: no reference model is made where the policy has adapters; they are switched off",
    ),
    Choice(
        components={"reference.engine": "fsdp2-same-weights"},
        algorithms=(*PREFERENCE, "GRPO", "RLOO"),
        where={"adapter": LORA, "engine": "fsdp2"},
        source="TRL 1.x: no reference model is made where the policy has adapters; they are switched off",
    ),
    Choice(
        components={"optimizer": "adamw-fused"},
        batch={"micro_batch": 8},
        source="transformers: TrainingArguments, optim=adamw_torch_fused from torch 2.8; per_device_train_batch_size",
    ),
    Choice(components={"packing": "padded"}, source="TRL 1.x: packing=False, padding_free=False"),
    Choice(
        components={"loss": "trl-fused"},
        batch={"sequence_tokens": 1024},
        algorithms=("SFT", *PREFERENCE),
        source="TRL 1.16: the chunked head; sft_config.py and dpo_config.py, max_length=1024",
    ),
    Choice(
        components={"loss": "trl-fused", "rollout": "transformers-cache"},
        batch={"prompt_tokens": 512, "sequence_tokens": 768, "rollout_tokens": 768, "rollout_sequences": 8},
        algorithms=SAMPLING,
        source="TRL 1.x: grpo_config.py, max_prompt_length=512, max_completion_length=256, use_vllm=False",
    ),
)

TRL_1 = Preset(
    name="trl-1.16",
    framework="TRL",
    version="1.16",
    aliases=("trl", "trl-1"),
    algorithms=("SFT", *PREFERENCE, *SAMPLING),
    choices=CHOICES,
    source="TRL 1.16, transformers 5.24, accelerate 1.15",
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer TRL 1.x."""
    yield TRL_1
