"""TRL 1.16: trainers over transformers, spread by accelerate; most multiply by the head tile by tile."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl
from alignsim_plugins.presets.accelerate import ALONE, LAUNCHED, LORA, frozen, references
from alignsim_plugins.presets.serving import SLEEPING, VLLM

PAIRS = ("DPO", "IPO", "cDPO")
SAMPLING = ("GRPO", "GRPO-No-KL", "RLOO")
ONLINE = ("Online-DPO", "Online-DPO-Judge")
AS_STORED = ("CPO", "ORPO", "SimPO", *ONLINE)

CHOICES = (
    Choice(
        components={"engine": "ddp", "layers": "transformers", "attention": "sdpa", "adapter": "full"},
        source="accelerate launch without a configuration: DistributedDataParallel; transformers: attn_implementation",
    ),
    Choice(
        components={"recompute": "full"},
        source="TRL 1.16: trainer/base_config.py, gradient_checkpointing=True",
    ),
    Choice(
        components={"precision": "autocast-fp32"},
        source="TRL 1.16: trainer/utils.py, create_model_from_path: dtype float32; trainer/base_config.py, bf16=True",
    ),
    Choice(
        components={"precision": "autocast-bf16"},
        algorithms=AS_STORED,
        source="TRL 1.16: experimental/cpo, orpo and online_dpo: dtype auto, the checkpoint's, taken as bfloat16; "
        "trainer/base_config.py, bf16=True",
    ),
    *LAUNCHED,
    Choice(
        components={"reference.engine": "fsdp2-one-unit"},
        where={"engine": "fsdp2"},
        source="TRL 1.16: models/utils.py, prepare_fsdp: one fully_shard of the whole reference",
    ),
    *references("TRL 1.16"),
    *frozen("reward", "TRL 1.16: experimental/online_dpo/online_dpo_trainer.py, reward_funcs", ("Online-DPO",)),
    Choice(
        components={"optimizer": "adamw-fused"},
        batch={"micro_batch": 8},
        source="transformers: TrainingArguments, optim=adamw_torch_fused from torch 2.8; per_device_train_batch_size=8",
    ),
    Choice(
        components={"packing": "padded"},
        source="TRL 1.16: sft_config.py, packing=False, padding_free=False; dpo_config.py, padding_free=False",
    ),
    Choice(
        components={"loss": "trl-fused"},
        batch={"sequence_tokens": 1024},
        algorithms=("SFT", *PAIRS, "KTO"),
        source="TRL 1.16: add_fused_lm_head; sft_config.py, dpo_config.py and kto_config.py, max_length=1024",
    ),
    Choice(
        components={"loss": "score"},
        batch={"sequence_tokens": 1024},
        algorithms="RM",
        source="TRL 1.16: reward_trainer.py, AutoModelForSequenceClassification; reward_config.py, max_length=1024",
    ),
    Choice(
        components={"loss": "trl-cpo"},
        batch={"sequence_tokens": 1024},
        algorithms=("CPO", "ORPO"),
        source="TRL 1.16: experimental/cpo/cpo_trainer.py and orpo_trainer.py, concatenated_forward: whole logits; "
        "max_length=1024",
    ),
    Choice(
        components={"loss": "trl-simpo"},
        batch={"sequence_tokens": 1024},
        algorithms="SimPO",
        source="TRL 1.16: experimental/cpo/cpo_trainer.py with loss_type=simpo and cpo_alpha=0; max_length=1024",
    ),
    Choice(
        components={"loss": "trl-fused", "rollout": "transformers-cache"},
        batch={"rollout_sequences": 8},
        algorithms=SAMPLING,
        source="TRL 1.16: grpo_config.py and rloo_config.py, use_vllm=False; generation_batch_size: "
        "per_device_train_batch_size x gradient_accumulation_steps a device",
    ),
    Choice(
        components={"loss": "naive", "reward.loss": "score", "rollout": "transformers-cache"},
        batch={"prompt_tokens": 448, "sequence_tokens": 512, "rollout_tokens": 512, "rollout_sequences": 16},
        algorithms="Online-DPO",
        source="TRL 1.16: experimental/online_dpo: a log-softmax of whole logits; max_length=512, max_new_tokens=64, "
        "two answers to each of 8 prompts",
    ),
    Choice(
        components={"loss": "naive", "rollout": "transformers-cache"},
        batch={"prompt_tokens": 448, "sequence_tokens": 512, "rollout_tokens": 512, "rollout_sequences": 16},
        algorithms="Online-DPO-Judge",
        source="TRL 1.16: experimental/online_dpo: a log-softmax of whole logits; max_length=512, max_new_tokens=64, "
        "two answers to each of 8 prompts",
    ),
    Choice(
        components={"rollout": "transformers-cache-gathered"},
        algorithms=(*SAMPLING, *ONLINE),
        where={"engine": "zero-3"},
        source="TRL 1.16: ds3_gather_for_generation=True; models/utils.py, unwrap_model_for_generation",
    ),
    Choice(
        components={"rollout": "transformers-cache-root-gathered"},
        algorithms=(*SAMPLING, *ONLINE),
        where={"engine": "fsdp1"},
        source="TRL 1.16: distributed.py, summon_full_params(recurse=False) under FSDP1 and nothing under FSDP2",
    ),
    Choice(
        components={"weight_sync": "one-by-one"},
        givens={"generator.gpu_memory_utilization": 0.3, "generator.max_batched_tokens": 4096},
        where={"rollout": VLLM},
        source="TRL 1.16: grpo_config.py and rloo_config.py, vllm_gpu_memory_utilization=0.3; "
        "generation/vllm_generation.py, max_num_batched_tokens=4096",
    ),
    Choice(
        givens={"generator.sleep_level": 2},
        where={"rollout": SLEEPING},
        source="TRL 1.16: generation/vllm_generation.py, sleep(level=2)",
    ),
    Choice(
        givens={"generator.gpu_memory_utilization": 0.55},
        algorithms=ONLINE,
        where={"rollout": VLLM},
        source="TRL 1.16: experimental/online_dpo/online_dpo_config.py, vllm_gpu_memory_utilization=0.55",
    ),
    Choice(
        components={"weight_sync": "merged-model"},
        where={"rollout": VLLM, "adapter": LORA, "engine": (*ALONE, "zero-3")},
        source="TRL 1.16: generation/vllm_generation.py: adapters are merged, under ZeRO-3 in gathered weights",
    ),
)

TRL_1 = Preset(
    name="trl-1.16",
    framework="TRL",
    version="1.16",
    aliases=("trl", "trl-1"),
    algorithms=("SFT", "RM", *PAIRS, "KTO", "CPO", "ORPO", "SimPO", *SAMPLING, *ONLINE),
    choices=CHOICES,
    source="TRL 1.16.0, transformers 5.24, accelerate 1.15",
    asks=(
        "engine: what the launch file says: fsdp1, fsdp2, zero-2, zero-3; ddp without one",
        "prompt_tokens, sequence_tokens, rollout_tokens: of GRPO and RLOO, whose prompts are not cut: the prompt, and "
        "max_completion_length=512 more",
        "rollout_sequences: 8 a device where micro_batch is 8 and gradients are not accumulated",
        "rollout: use_vllm with vllm_mode=colocate is vllm-awake, and vllm with vllm_enable_sleep_mode; the generator "
        "is in the trainer's process: places: {generator: {process: trainer}}; with vllm_mode=server it has devices of "
        "its own, and generator.gpu_memory_utilization is 0.9",
    ),
    left_out=(
        "GKD and DistillationTrainer, whose losses have no loss path here: of prompts too, and in tiles",
        "in online DPO, that the log-softmax is of answers alone: here it is of prompts too",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer TRL 1.16."""
    yield TRL_1
