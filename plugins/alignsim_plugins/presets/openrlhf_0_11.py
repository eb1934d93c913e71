"""OpenRLHF 0.11: flags with dots, such as --ds.zero_stage, as they are since 3c3be623."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Preset, hookimpl
from alignsim_plugins.presets.openrlhf import LEFT_OUT, PAIRS, SAMPLING, STAGES, asks, of

FLAGS = {
    "stage": "ds.zero_stage",
    "rank": "ds.lora.rank",
    "recompute": "actor.gradient_checkpointing_enable",
    "format": "ds.param_dtype bf16",
    "attention": "ds.attn_implementation",
    "packing": "ds.packing_samples",
    "micro": "train.micro_batch_size",
    "length": "data.max_len",
    "sizes": "train.micro_batch_size 1, data.max_len 2048 of prompt and answer",
    "sleep": "vllm.enable_sleep",
    "memory": "vllm.gpu_memory_utilization",
    "places": "train.colocate_actor_ref, train.colocate_critic_reward, train.colocate_all",
}

OPENRLHF_0_11 = Preset(
    name="openrlhf-0.11",
    framework="OpenRLHF",
    version="0.11 (and 3c3be623)",
    aliases=("openrlhf",),
    algorithms=("SFT", "RM", *PAIRS, *SAMPLING),
    only={"engine": STAGES},
    choices=of("0.11", FLAGS, {"micro_batch": 1, "sequence_tokens": 2048, "rollout_tokens": 2048}, ()),
    source="OpenRLHF 0.11.2: cli, models, utils/deepspeed",
    asks=(
        *asks(FLAGS),
        "prompt_tokens: prompts have no length of their own, rollout.max_new_tokens is unset",
        "micro_batch: while models score, rollout.micro_batch_size: --set score:micro_batch=...",
    ),
    left_out=LEFT_OUT,
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer OpenRLHF 0.11."""
    yield OPENRLHF_0_11
