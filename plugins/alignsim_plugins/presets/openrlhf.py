"""OpenRLHF: a process a model under DeepSpeed, and vLLM; Ray places them."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl

SAMPLING = ("PPO", "PPO-Reward-Elsewhere", "GRPO", "GRPO-No-KL", "RLOO", "REINFORCE++", "DAPO")
REWARDED = ("PPO", "REINFORCE++")
PAIRS = ("DPO", "IPO", "cDPO")
CLI = "OpenRLHF 021d1b09: cli/train_ppo_ray.py"
OTHERS = "OpenRLHF 3c3be623: utils/deepspeed/deepspeed_utils.py, get_eval_ds_config"

CHOICES = (
    Choice(
        components={"engine": "zero-2", "layers": "transformers", "adapter": "full", "recompute": "none"},
        source=f"{CLI}, zero_stage 2, lora_rank 0, gradient_checkpointing off unless asked for",
    ),
    Choice(
        components={"precision": "bf16-master", "optimizer": "adamw-fused"},
        source="OpenRLHF 3c3be623: bf16 under DeepSpeed, which keeps a copy in 32 bits; utils/deepspeed: FusedAdam",
    ),
    Choice(
        components={"attention": "flash", "packing": "padded"},
        source=f"{CLI}, attn_implementation flash_attention_2, packing_samples off unless asked for",
    ),
    Choice(
        components={"loss": "openrlhf-3c3be62"},
        algorithms=("SFT", *PAIRS, "KTO"),
        source="OpenRLHF 3c3be623: models/actor.py, log-probabilities of tokens; models/loss.py: SFT, DPO, KTO",
    ),
    Choice(
        components={"loss": "openrlhf-3c3be62"},
        batch={"micro_batch": 4, "prompt_tokens": 1024, "sequence_tokens": 2048, "rollout_tokens": 2048},
        algorithms=SAMPLING,
        source=f"{CLI}, micro_train_batch_size 4, prompt_max_len 1024, generate_max_len 1024; models/actor.py",
    ),
    Choice(
        components={"critic.loss": "score"},
        source="OpenRLHF 3c3be623: models/model.py, get_llm_for_sequence_regression",
    ),
    Choice(
        components={"reward.loss": "score"},
        source="OpenRLHF 3c3be623: models/model.py, get_llm_for_sequence_regression",
    ),
    Choice(
        components={"loss": "score"},
        algorithms="RM",
        source="OpenRLHF 3c3be623: models/model.py, get_llm_for_sequence_regression",
    ),
    Choice(
        components={"reference.engine": "zero-replica"},
        where={"engine": ("zero-1", "zero-2")},
        source=f"{OTHERS}: stage 0 unless training is of stage 3",
    ),
    Choice(
        components={"reference.engine": "zero-inference"},
        where={"engine": "zero-3"},
        source=f"{OTHERS}: stage 3 where training is",
    ),
    Choice(
        components={"reward.engine": "zero-replica"},
        algorithms=REWARDED,
        where={"engine": ("zero-1", "zero-2")},
        source=f"{OTHERS}: stage 0 unless training is of stage 3",
    ),
    Choice(
        components={"reward.engine": "zero-inference"},
        algorithms=REWARDED,
        where={"engine": "zero-3"},
        source=f"{OTHERS}: stage 3 where training is",
    ),
    Choice(
        components={"rollout": "vllm-awake", "weight_sync": "one-by-one-copied"},
        algorithms=SAMPLING,
        source=f"{CLI}, vllm_enable_sleep off unless asked for; a gathered parameter is cloned to be handed over",
    ),
    Choice(
        givens={"generator.gpu_memory_utilization": 0.95},
        where={"rollout": ("vllm", "vllm-offloading", "vllm-awake", "vllm-0.9")},
        source=f"{CLI}, vllm_gpu_memory_utilization 0.95",
    ),
)

OPENRLHF = Preset(
    name="openrlhf-0.9",
    framework="OpenRLHF",
    version="0.9 (3c3be623)",
    aliases=("openrlhf",),
    algorithms=("SFT", "RM", *PAIRS, "KTO", *SAMPLING),
    only={"engine": ("zero", "zero-1", "zero-2", "zero-3")},
    choices=CHOICES,
    source="OpenRLHF 021d1b09: cli/train_ppo_ray.py; 3c3be623: models, utils/deepspeed",
    asks=(
        "places: which models share devices (colocate_actor_ref, colocate_critic_reward, colocate_all_models); all do "
        "here unless places say otherwise, and vLLM, awake with 0.95 of a device, needs its own or has to sleep",
        "rollout_sequences: rollout_batch_size x n_samples_per_prompt over the engines",
        "micro_batch, sequence_tokens: where nothing is sampled",
    ),
    left_out=(
        "a process of each model, with a context and an allocator: models share one unless places say otherwise",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer OpenRLHF."""
    yield OPENRLHF
