"""ms-swift 3: trainers over transformers and TRL, with adapters unless it is told otherwise."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Const, Preset, hookimpl
from alignsim_plugins.presets.accelerate import LAUNCHED, LORA, references
from alignsim_plugins.presets.serving import VLLM

PAIRS = ("DPO", "IPO", "cDPO")
SAMPLING = ("GRPO", "GRPO-No-KL")
ARGUMENTS = "ms-swift 3.12: llm/argument"

CHOICES = (
    Choice(
        components={"engine": "ddp", "layers": "transformers", "attention": "sdpa", "recompute": "full"},
        source="ms-swift 3.12: trainers/arguments.py, gradient_checkpointing True; torchrun; transformers: "
        "attn_implementation",
    ),
    Choice(components={"adapter": "lora"}, source=f"{ARGUMENTS}/tuner_args.py, train_type lora, all-linear"),
    Choice(
        givens={"lora_rank": Const(8), "lora_dropout": Const(0.05)},
        where={"adapter": LORA},
        source=f"{ARGUMENTS}/tuner_args.py, lora_rank 8, lora_dropout 0.05",
    ),
    Choice(
        components={"precision": "autocast-bf16"},
        source=f"{ARGUMENTS}/base_args/model_args.py, torch_dtype of the model's config: bfloat16, and bf16 then",
    ),
    *LAUNCHED,
    *references("ms-swift 3.12, and TRL"),
    Choice(
        components={"optimizer": "adamw-fused", "packing": "padded"},
        batch={"micro_batch": 1},
        source="ms-swift 3.12: trainers/arguments.py, per_device_train_batch_size 1; packing and padding_free False; "
        "transformers 4.57: optim=adamw_torch_fused from torch 2.8",
    ),
    Choice(
        components={"loss": "cross-entropy"}, algorithms="SFT", source="ms-swift 3.12: trainers, the model's own loss"
    ),
    Choice(
        components={"loss": "score"},
        algorithms="RM",
        source=f"{ARGUMENTS}/rlhf_args.py, _init_rm: a sequence classifier of one label",
    ),
    Choice(
        components={"loss": "trl-dpo"},
        algorithms=PAIRS,
        source="ms-swift 3.12: trainers/rlhf_trainer/dpo_trainer.py and rlhf_mixin.py, TRL's selective_log_softmax "
        "of whole logits, without hidden states",
    ),
    Choice(
        components={"loss": "trl-kto"},
        algorithms="KTO",
        source="ms-swift 3.12: trainers/rlhf_trainer/kto_trainer.py, TRL's selective_log_softmax of whole logits",
    ),
    Choice(
        components={"loss": "trl-cpo"},
        algorithms=("CPO", "ORPO", "SimPO"),
        source="ms-swift 3.12: trainers/rlhf_trainer over TRL 0.24's cpo_trainer.py and orpo_trainer.py; "
        f"{ARGUMENTS.partition(': ')[2]}/rlhf_args.py, cpo_alpha 1: SimPO has the cross-entropy too",
    ),
    Choice(
        components={"loss": "trl-grpo", "rollout": "transformers-cache"},
        algorithms=SAMPLING,
        source="ms-swift 3.12: trainers/rlhf_trainer/grpo_trainer.py over TRL 0.24's; use_vllm False",
    ),
    Choice(
        components={"rollout": "transformers-cache-gathered"},
        algorithms=SAMPLING,
        where={"engine": "zero-3"},
        source="ms-swift 3.12 over TRL 0.24: ds3_gather_for_generation True",
    ),
    Choice(
        components={"weight_sync": "one-by-one"},
        givens={"generator.gpu_memory_utilization": 0.9},
        algorithms=SAMPLING,
        where={"rollout": VLLM},
        source="ms-swift 3.12: trainers/arguments.py, vllm_gpu_memory_utilization 0.9; rollout_mixin.py",
    ),
    Choice(
        components={"weight_sync": "whole-model"},
        algorithms=SAMPLING,
        where={"rollout": VLLM, "engine": "zero-3"},
        source="ms-swift 3.12: trainers/rlhf_trainer/rollout_mixin.py, move_model_batches None: all parameters are "
        "gathered together",
    ),
)

MS_SWIFT = Preset(
    name="ms-swift-3",
    framework="ms-swift",
    version="3.12",
    aliases=("ms-swift", "swift"),
    algorithms=("SFT", "RM", *PAIRS, "KTO", "CPO", "ORPO", "SimPO", *SAMPLING),
    choices=CHOICES,
    source="ms-swift 3.12.0, TRL 0.24, transformers 4.57",
    asks=(
        "sequence_tokens, prompt_tokens, rollout_tokens: max_length is the model's own unless said; answers of GRPO "
        "have max_completion_length 512",
        "rollout_sequences: of GRPO, answers a device: generation_batch_size over the devices",
        "engine: zero-2 or zero-3 where --deepspeed names one",
        "rollout: vllm-awake where use_vllm is set with vllm_mode colocate, vllm-offloading with sleep_level 1, vllm "
        "with 2",
    ),
    left_out=(
        "Megatron-SWIFT, PPO and GKD, which are not described here",
        "that DPO and KTO keep no copy of an answer's logits for their logs, as TRL's loss paths here do",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer ms-swift 3."""
    yield MS_SWIFT
