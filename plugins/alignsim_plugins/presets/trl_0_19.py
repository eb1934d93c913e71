"""TRL 0.19: trainers that have whole logits, each with a loss path of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from alignsim import Choice, Preset, hookimpl
from alignsim_plugins.presets.accelerate import LAUNCHED, frozen, references, whole
from alignsim_plugins.presets.serving import VLLM

PAIRS = ("DPO", "IPO", "cDPO")
SAMPLING = ("GRPO", "GRPO-No-KL")
ONLINE = ("Online-DPO", "Online-DPO-Judge")
GENERATING = (*SAMPLING, "GKD", "TRL-PPO", *ONLINE)
SCORED = ("TRL-PPO", "Online-DPO")
LENGTHS = {"sequence_tokens": 1024, "prompt_tokens": 512}
LOSSES: Mapping[tuple[str, ...], tuple[str, Mapping[str, int], str]] = {
    ("SFT",): ("cross-entropy", {"sequence_tokens": 1024}, "sft_trainer.py: the model's own loss; max_length=1024"),
    ("RM",): (
        "score",
        {"sequence_tokens": 1024},
        "reward_trainer.py: AutoModelForSequenceClassification; max_length=1024",
    ),
    PAIRS: (
        "trl-dpo-hidden-states",
        LENGTHS,
        "dpo_trainer.py, concatenated_forward: output_hidden_states=True; max_length=1024, max_prompt_length=512",
    ),
    ("KTO",): ("trl-kto", LENGTHS, "kto_trainer.py, forward; max_length=1024, max_prompt_length=512"),
    ("CPO", "ORPO"): (
        "trl-cpo",
        LENGTHS,
        "cpo_trainer.py and orpo_trainer.py, concatenated_forward; max_length=1024, max_prompt_length=512",
    ),
    ("SimPO",): (
        "trl-simpo",
        LENGTHS,
        "cpo_trainer.py, loss_type=simpo and cpo_alpha=0; max_length=1024, max_prompt_length=512",
    ),
    SAMPLING: (
        "trl-grpo",
        {"prompt_tokens": 512, "sequence_tokens": 768, "rollout_tokens": 768, "rollout_sequences": 8},
        "grpo_trainer.py, _get_per_token_logps_and_entropies; max_prompt_length=512, max_completion_length=256",
    ),
    ONLINE: (
        "naive",
        {"prompt_tokens": 448, "sequence_tokens": 512, "rollout_tokens": 512, "rollout_sequences": 16},
        "online_dpo_trainer.py, _forward: a log-softmax of all words; max_length=512, max_new_tokens=64, two answers",
    ),
    ("GKD",): (
        "trl-gkd",
        {"sequence_tokens": 1024, "rollout_sequences": 8},
        "gkd_trainer.py, compute_loss; sft_config.py, max_length=1024",
    ),
    ("TRL-PPO",): ("trl-ppo", {"rollout_sequences": 8}, "ppo_trainer.py, train: batches of one mini-batch"),
}

CHOICES = (
    Choice(
        components={"engine": "ddp", "layers": "transformers", "attention": "sdpa", "adapter": "full"},
        source="accelerate launch without a configuration: DistributedDataParallel; transformers: attn_implementation",
    ),
    Choice(
        components={"precision": "autocast-fp32"},
        source="transformers 4.5x: from_pretrained in 32 bits unless torch_dtype is passed; TRL 0.19: bf16=True in "
        "its configurations",
    ),
    Choice(
        components={"recompute": "none"},
        source="transformers 4.5x: TrainingArguments, gradient_checkpointing=False, which TRL 0.19 leaves",
    ),
    *LAUNCHED,
    *references("TRL 0.19"),
    *frozen("teacher", "TRL 0.19: gkd_trainer.py", ("GKD",)),
    *frozen("reward", "TRL 0.19: trainer/utils.py", SCORED),
    whole("reference", "TRL 0.19: kto_trainer.py", ("KTO",)),
    Choice(
        components={"optimizer": "adamw-foreach"},
        batch={"micro_batch": 8},
        source="transformers 4.5x: TrainingArguments, optim=adamw_torch, per_device_train_batch_size=8",
    ),
    Choice(components={"packing": "padded"}, source="TRL 0.19: packing=False, padding_free=False"),
    *(
        Choice(components={"loss": loss}, batch=sizes, algorithms=algorithms, source=f"TRL 0.19: {where}")
        for algorithms, (loss, sizes, where) in LOSSES.items()
    ),
    Choice(
        components={"teacher.loss": "teacher-logits"},
        algorithms="GKD",
        source="TRL 0.19: gkd_trainer.py, outputs_teacher.logits",
    ),
    Choice(
        components={"critic.loss": "trl-ppo-value"},
        algorithms="TRL-PPO",
        source="TRL 0.19: ppo_trainer.py, PolicyAndValueWrapper",
    ),
    Choice(
        components={"reward.loss": "score"},
        algorithms=SCORED,
        source="TRL 0.19: AutoModelForSequenceClassification, of PPO and online DPO",
    ),
    Choice(
        components={"rollout": "transformers-cache"},
        algorithms=GENERATING,
        source="TRL 0.19: grpo_config.py, use_vllm=False; models/utils.py, unwrap_model_for_generation",
    ),
    Choice(
        components={"rollout": "transformers-cache-gathered"},
        algorithms=(*SAMPLING, "GKD", *ONLINE),
        where={"engine": "zero-3"},
        source="TRL 0.19: ds3_gather_for_generation=True",
    ),
    Choice(
        components={"rollout": "transformers-cache-gathered-with-value"},
        algorithms="TRL-PPO",
        where={"engine": "zero-3"},
        source="TRL 0.19: ds3_gather_for_generation=True of a PolicyAndValueWrapper",
    ),
    Choice(
        components={"rollout": "transformers-cache-root-gathered"},
        algorithms=SAMPLING,
        where={"engine": "fsdp1"},
        source="TRL 0.19: grpo_trainer.py, FSDP.summon_full_params(recurse=False)",
    ),
    Choice(
        components={"weight_sync": "one-by-one"},
        givens={"generator.gpu_memory_utilization": 0.9},
        algorithms=SAMPLING,
        where={"rollout": VLLM},
        source="TRL 0.19: grpo_config.py, vllm_mode=server; scripts/vllm_serve.py, gpu_memory_utilization=0.9",
    ),
)

TRL_0_19 = Preset(
    name="trl-0.19",
    framework="TRL",
    version="0.19",
    algorithms=tuple(name for names in LOSSES for name in names),
    choices=CHOICES,
    source="TRL 0.19.1, transformers 4.5x",
    asks=(
        "engine: what the launch file says: fsdp1, zero-2, zero-3; ddp without one",
        "micro_batch: while TRL's PPO scores, local_rollout_forward_batch_size 64, and at most rollout_sequences: "
        "--set score:micro_batch=...",
        "precision: autocast-bf16 where torch_dtype=bfloat16 was passed, bf16 with bf16=False as well",
        "prompt_tokens, sequence_tokens, rollout_tokens: of GKD, the prompt, max_length=1024, and max_new_tokens=128 "
        "after the prompt; of PPO, the prompt and response_length=53 more",
        "places: with use_vllm, the generator has devices of its own: places: {generator: {process: server, pool: "
        "servers}}",
        "rollout, generator.gpu_memory_utilization, generator.max_batched_tokens: with vllm_mode=colocate it is "
        "vllm-awake in the trainer's process, with 0.3 and 4096: places: {generator: {process: trainer}}",
        "reference.engine, reward.engine, reference.precision, reward.precision: of PPO and online DPO under FSDP, "
        "whole on every device as they were loaded",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer TRL 0.19."""
    yield TRL_0_19
