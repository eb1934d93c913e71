"""TRL 0.19: trainers that have whole logits, each with a loss path of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from alignsim import Choice, Preset, hookimpl
from alignsim_plugins.presets.accelerate import LAUNCHED, references

PAIRS = ("DPO", "IPO", "cDPO")
SAMPLING = ("GRPO", "GRPO-No-KL")
GENERATING = (*SAMPLING, "GKD", "TRL-PPO", "Online-DPO", "Online-DPO-Judge")
LOSSES: Mapping[tuple[str, ...], tuple[str, str]] = {
    ("SFT",): ("cross-entropy", "sft_trainer.py: the model's own loss"),
    ("RM",): ("score", "reward_trainer.py: AutoModelForSequenceClassification"),
    PAIRS: ("trl-dpo", "dpo_trainer.py, concatenated_forward"),
    ("KTO",): ("trl-kto", "kto_trainer.py, forward"),
    ("CPO", "ORPO"): ("trl-cpo", "cpo_trainer.py and orpo_trainer.py, concatenated_forward"),
    ("SimPO",): ("trl-simpo", "cpo_trainer.py, loss_type=simpo"),
    SAMPLING: ("trl-grpo", "grpo_trainer.py, _get_per_token_logps_and_entropies"),
    ("Online-DPO", "Online-DPO-Judge"): ("naive", "online_dpo_trainer.py, _forward: a log-softmax of all words"),
    ("GKD",): ("trl-gkd", "gkd_trainer.py, compute_loss"),
    ("TRL-PPO",): ("trl-ppo", "ppo_trainer.py, train"),
}

CHOICES = (
    Choice(
        components={"engine": "ddp", "layers": "transformers", "attention": "sdpa", "adapter": "full"},
        source="accelerate launch without a configuration: DistributedDataParallel; transformers: attn_implementation",
    ),
    *LAUNCHED,
    *references("TRL 0.19"),
    Choice(
        components={"optimizer": "adamw-foreach"},
        batch={"micro_batch": 8},
        source="transformers 4.5x: TrainingArguments, optim=adamw_torch, per_device_train_batch_size",
    ),
    Choice(components={"packing": "padded"}, source="TRL 0.19: packing=False, padding_free=False"),
    *(
        Choice(components={"loss": loss}, algorithms=algorithms, source=f"TRL 0.19: {where}")
        for algorithms, (loss, where) in LOSSES.items()
    ),
    Choice(
        components={"teacher.loss": "teacher-logits"},
        source="TRL 0.19: gkd_trainer.py, outputs_teacher.logits",
    ),
    Choice(
        components={"critic.loss": "trl-ppo-value", "reward.loss": "score"},
        algorithms=("TRL-PPO", "Online-DPO"),
        source="TRL 0.19: ppo_trainer.py, PolicyAndValueWrapper; AutoModelForSequenceClassification",
    ),
    Choice(
        components={"rollout": "transformers-cache"},
        algorithms=GENERATING,
        source="TRL 0.19: grpo_config.py, use_vllm=False; models/utils.py, unwrap_model_for_generation",
    ),
    Choice(
        components={"rollout": "transformers-cache-gathered"},
        algorithms=GENERATING,
        where={"engine": ("zero-3", "fsdp1", "fsdp2")},
        source="TRL 0.19: ds3_gather_for_generation=True",
    ),
    Choice(
        components={"rollout": "transformers-cache-gathered-with-value"},
        algorithms="TRL-PPO",
        where={"engine": ("zero-3", "fsdp1", "fsdp2")},
        source="TRL 0.19: ds3_gather_for_generation=True of a PolicyAndValueWrapper",
    ),
)

TRL_0_19 = Preset(
    name="trl-0.19",
    framework="TRL",
    version="0.19",
    algorithms=tuple(name for names in LOSSES for name in names),
    choices=CHOICES,
    source="TRL 0.19, transformers 4.5x",
    asks=(
        "precision: without DeepSpeed and FSDP, bf16 where torch_dtype=bfloat16 was passed, else autocast-fp32 or fp32",
        "recompute: gradient_checkpointing, which differs between its trainers",
        "sequence_tokens, prompt_tokens: max_length and max_prompt_length, which differ between its trainers",
        "engine: what the launch file says: fsdp1, fsdp2, zero-2, zero-3; ddp without one",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer TRL 0.19."""
    yield TRL_0_19
