"""TRL 1.x: trainers over transformers, spread by accelerate; the loss paths are those of 1.16."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl
from alignsim_plugins.presets.accelerate import LAUNCHED, references

PAIRS = ("DPO", "IPO", "cDPO")
SAMPLING = ("GRPO", "GRPO-No-KL", "RLOO")
VLLM = ("vllm", "vllm-offloading", "vllm-awake", "vllm-0.9")

CHOICES = (
    Choice(
        components={"engine": "ddp", "layers": "transformers", "attention": "sdpa", "adapter": "full"},
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
    *LAUNCHED,
    Choice(
        components={"reference.engine": "fsdp2-one-unit"},
        where={"engine": "fsdp2"},
        source="TRL 1.x: models/utils.py, prepare_fsdp: one fully_shard of the whole reference",
    ),
    *references("TRL 1.x"),
    Choice(
        components={"optimizer": "adamw-fused"},
        batch={"micro_batch": 8},
        source="transformers: TrainingArguments, optim=adamw_torch_fused from torch 2.8; per_device_train_batch_size",
    ),
    Choice(components={"packing": "padded"}, source="TRL 1.x: packing=False, padding_free=False"),
    Choice(
        components={"loss": "trl-fused"},
        batch={"sequence_tokens": 1024},
        algorithms=("SFT", *PAIRS),
        source="TRL 1.16: the chunked head; sft_config.py and dpo_config.py, max_length=1024",
    ),
    Choice(
        components={"loss": "score"},
        batch={"sequence_tokens": 1024},
        algorithms="RM",
        source="TRL 1.x: reward_trainer.py, AutoModelForSequenceClassification; reward_config.py, max_length=1024",
    ),
    Choice(
        components={"loss": "trl-fused", "rollout": "transformers-cache"},
        batch={"prompt_tokens": 512, "sequence_tokens": 768, "rollout_tokens": 768, "rollout_sequences": 8},
        algorithms=SAMPLING,
        source="TRL 1.x: grpo_config.py, max_prompt_length=512, max_completion_length=256, use_vllm=False",
    ),
    Choice(
        components={"rollout": "transformers-cache-gathered"},
        algorithms=SAMPLING,
        where={"engine": ("zero-3", "fsdp1", "fsdp2")},
        source="TRL 1.x: ds3_gather_for_generation=True; models/utils.py, unwrap_model_for_generation",
    ),
    Choice(
        components={"weight_sync": "one-by-one"},
        givens={"generator.gpu_memory_utilization": 0.3, "generator.max_batched_tokens": 4096},
        where={"rollout": VLLM},
        source="TRL 1.x: grpo_config.py, vllm_gpu_memory_utilization=0.3; vllm_generation.py, 4096 batched tokens",
    ),
    Choice(
        components={"weight_sync": "whole-model"},
        where={"rollout": VLLM, "adapter": ("lora", "qlora", "dora"), "engine": "zero-3"},
        source="TRL 1.x: vllm_generation.py: all weights are gathered to merge adapters under ZeRO-3",
    ),
)

TRL_1 = Preset(
    name="trl-1.16",
    framework="TRL",
    version="1.16",
    aliases=("trl", "trl-1"),
    algorithms=("SFT", "RM", *PAIRS, *SAMPLING),
    choices=CHOICES,
    source="TRL 1.16, transformers 5.24, accelerate 1.15",
    asks=(
        "engine: what the launch file says: fsdp1, fsdp2, zero-2, zero-3; ddp without one",
        "rollout: vllm_mode=colocate is vllm-awake, and vllm with vllm_enable_sleep_mode; the generator is in the "
        "trainer's process: places: {generator: {process: trainer}}",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer TRL 1.x."""
    yield TRL_1
