"""NeMo-RL: a policy under FSDP2 with DTensor or under Megatron, and vLLM on the same devices."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl

SAMPLING = ("GRPO", "GRPO-No-KL", "RLOO", "DAPO")
PAIRS = ("DPO",)
GRPO = "NeMo-RL 7ea279ab: examples/configs/grpo_math_1B.yaml"
WORKER = "NeMo-RL 7ea279ab: models/policy/dtensor_policy_worker_v2.py"
DTENSOR = ("fsdp2", "fsdp2-tensor")

CHOICES = (
    Choice(
        components={"engine": "fsdp2", "layers": "transformers", "adapter": "full", "recompute": "none"},
        source=f"{GRPO}, dtensor_cfg: enabled, activation_checkpointing: false",
    ),
    Choice(
        components={"precision": "bf16-gathered", "optimizer": "adamw-loop", "attention": "flash"},
        givens={"reduce_bytes": 4},
        where={"engine": DTENSOR},
        source=f"{WORKER}: MixedPrecisionPolicy, bf16 parameters, reduced in 32 bits; AdamW, foreach and fused off",
    ),
    Choice(
        components={
            "layers": "megatron",
            "attention": "megatron-fused",
            "precision": "megatron-bf16",
            "optimizer": "megatron-adam",
        },
        where={"engine": "megatron"},
        source=f"{GRPO}, megatron_cfg: use_distributed_optimizer, activation_checkpointing: false",
    ),
    Choice(
        components={"packing": "packed"},
        batch={"micro_batch": 4, "sequence_tokens": 512, "rollout_tokens": 512, "rollout_sequences": 512},
        algorithms=SAMPLING,
        source=f"{GRPO}, sequence_packing: enabled, train_micro_batch_size: 4, max_total_sequence_length: 512, "
        "32 prompts x 16 generations",
    ),
    Choice(components={"packing": "padded"}, algorithms=("SFT", *PAIRS), source="NeMo-RL 7ea279ab: sft.yaml, dpo.yaml"),
    Choice(
        components={"loss": "nemo-rl-7ea279a"},
        source="NeMo-RL 7ea279ab: distributed/model_utils.py, DistributedLogprob, for SFT and DPO as well",
    ),
    Choice(
        components={"loss": "megatron-d98e8a6"},
        algorithms="SFT",
        where={"engine": "megatron"},
        source="Megatron-LM d98e8a64: vocab_parallel_cross_entropy",
    ),
    Choice(
        givens={"gathers_logits": 0},
        where={"engine": "fsdp2-tensor"},
        source="NeMo-RL 7ea279ab: models/dtensor/parallelize.py, lm_head: ColwiseParallel with its logits divided",
    ),
    Choice(
        components={"reference.engine": "fsdp2-swapped-weights"},
        where={"engine": "fsdp2"},
        source=f"{WORKER}, use_reference_model: pinned weights take the policy's place",
    ),
    Choice(
        components={"reference.engine": "fsdp2-tensor-swapped-weights"},
        where={"engine": "fsdp2-tensor"},
        source=f"{WORKER}, use_reference_model: pinned weights take the policy's place",
    ),
    Choice(
        components={"rollout": "vllm-offloading", "weight_sync": "bucketed"},
        algorithms=SAMPLING,
        source=f"{GRPO}, colocated: enabled; {WORKER}, offload_before_refit and offload_after_refit",
    ),
    Choice(
        givens={"generator.gpu_memory_utilization": 0.6},
        where={"rollout": ("vllm", "vllm-offloading", "vllm-awake", "vllm-0.9")},
        source=f"{GRPO}, vllm_cfg: gpu_memory_utilization: 0.6",
    ),
)

NEMO_RL = Preset(
    name="nemo-rl-2026.08",
    framework="NeMo-RL",
    version="August 2026 (7ea279ab)",
    aliases=("nemo-rl",),
    algorithms=("SFT", *PAIRS, *SAMPLING),
    only={"engine": (*DTENSOR, "megatron")},
    choices=CHOICES,
    source="NeMo-RL 7ea279ab: examples/configs, models/policy",
    asks=(
        "prompt_tokens: a sequence is cut at max_total_sequence_length, prompt and answer together",
        "micro_batch, sequence_tokens: of SFT and DPO",
        "first_moment_bytes, second_moment_bytes: 2 under Megatron with use_precision_aware_optimizer in 16 bits",
    ),
    left_out=(
        "the buffer of a refit, 0.3 of what is free (NRL_REFIT_BUFFER_MEMORY_RATIO): a bucket of 2 GiB is counted",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer NeMo-RL."""
    yield NEMO_RL
