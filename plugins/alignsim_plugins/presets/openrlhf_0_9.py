"""OpenRLHF 0.9: flags with underscores, such as --zero_stage; KTO among its trainers."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl
from alignsim_plugins.presets.openrlhf import LEFT_OUT, PAIRS, SAMPLING, STAGES, asks, of

FLAGS = {
    "stage": "zero_stage",
    "rank": "lora_rank",
    "recompute": "gradient_checkpointing",
    "format": "bf16, which is off unless asked for, and asked for in its examples",
    "attention": "attn_implementation",
    "packing": "packing_samples",
    "micro": "micro_train_batch_size",
    "length": "max_len",
    "sizes": "micro_train_batch_size 4, prompt_max_len 1024, generate_max_len 1024",
    "sleep": "vllm_enable_sleep",
    "memory": "vllm_gpu_memory_utilization",
    "places": "colocate_actor_ref, colocate_critic_reward, colocate_all_models",
}

SCORES = Choice(
    givens={"score:micro_batch": 8},
    algorithms=SAMPLING,
    where={"packing": ("equal", "packed", "padded")},
    source="OpenRLHF 0.9: cli/train_ppo_ray.py, micro_rollout_batch_size 8, of every model that scores",
)

OPENRLHF_0_9 = Preset(
    name="openrlhf-0.9",
    framework="OpenRLHF",
    version="0.9",
    algorithms=("SFT", "RM", *PAIRS, "KTO", *SAMPLING),
    only={"engine": STAGES},
    choices=(
        *of(
            "0.9",
            FLAGS,
            {"micro_batch": 4, "prompt_tokens": 1024, "sequence_tokens": 2048, "rollout_tokens": 2048},
            ("KTO",),
        ),
        SCORES,
    ),
    source="OpenRLHF 0.9.0: cli, models, utils/deepspeed",
    asks=asks(FLAGS),
    left_out=LEFT_OUT,
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer OpenRLHF 0.9."""
    yield OPENRLHF_0_9
