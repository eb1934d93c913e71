"""What verl chooses in either of its generations: workers of January 2026, and the engines in their place."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice

SAMPLING = ("PPO", "PPO-Reward-Elsewhere", "GRPO", "GRPO-No-KL", "RLOO", "REINFORCE++", "DAPO")
LORA = ("lora", "qlora", "dora")
FSDP = ("fsdp1", "fsdp2")
ENGINES = {"fsdp1": "fsdp1-cpu-offload", "fsdp2": "fsdp2-cpu-offload"}
CONFIG = "verl: trainer/config"

TRAINER = (
    Choice(
        components={"engine": "fsdp1", "layers": "transformers", "adapter": "full", "recompute": "full"},
        source=f"{CONFIG}/actor/dp_actor.yaml, strategy: fsdp; model/hf_model.yaml, lora_rank: 0, "
        "enable_gradient_checkpointing: true",
    ),
    Choice(
        components={"attention": "flash", "packing": "packed"},
        source=f"{CONFIG}/model/hf_model.yaml, use_remove_padding: true; workers: flash_attention_2",
    ),
    Choice(
        components={"precision": "bf16-gathered", "optimizer": "adamw-foreach"},
        givens={"reduce_bytes": 4},
        where={"engine": FSDP},
        source="verl: fsdp_config.model_dtype fp32; MixedPrecision: bf16 parameters, fp32 to reduce; torch.optim.AdamW",
    ),
    Choice(
        givens={"reshards_root": 1, "wraps_embedding": 1},
        where={"engine": "fsdp2"},
        source="verl: utils/fsdp_utils.py, apply_fsdp2: layers and embedding, reshard_after_forward of the model too",
    ),
    Choice(
        components={
            "layers": "megatron",
            "attention": "megatron-fused",
            "precision": "megatron-bf16",
            "optimizer": "megatron-adam",
            "recompute": "none",
        },
        where={"engine": "megatron"},
        source=f"{CONFIG}/engine/megatron.yaml, use_distributed_optimizer, grad_reduce_in_fp32; "
        "recompute_granularity: null",
    ),
    Choice(
        givens={"expandable_segments": 1},
        source="verl: utils/device.py, set_expandable_segments: on while training, off while vLLM takes memory",
    ),
    Choice(
        batch={"prompt_tokens": 512, "sequence_tokens": 1024, "rollout_tokens": 1024},
        algorithms=SAMPLING,
        source=f"{CONFIG}/data/legacy_data.yaml, max_prompt_length: 512, max_response_length: 512",
    ),
)


def references() -> Iterable[Choice]:
    """Yield how a reference and a reward model are held."""
    for engine, streamed in ENGINES.items():
        yield Choice(
            components={"reference.engine": streamed},
            where={"engine": engine},
            source="verl: workers/fsdp_workers.py, _build_model_optimizer: a reference is always offloaded to the host",
        )
        yield Choice(
            components={"reward.engine": streamed},
            where={"engine": engine},
            source="verl: workers/fsdp_workers.py, RewardModelWorker: CPUOffload(offload_params=True)",
        )
        yield Choice(
            components={"reference.engine": f"{engine}-same-weights"},
            where={"engine": engine, "adapter": LORA},
            source="verl: workers/fsdp_workers.py, ref_in_actor: with adapters the reference is the actor without them",
        )


ROLLOUT = (
    Choice(
        components={"rollout": "vllm", "weight_sync": "bucketed"},
        algorithms=SAMPLING,
        source=f"{CONFIG}/rollout/rollout.yaml, free_cache_engine: true; fsdp_config.param_offload: false; "
        "update_weights_bucket_megabytes",
    ),
    Choice(
        components={"weight_sync": "sharded-state"},
        algorithms=SAMPLING,
        where={"engine": "fsdp1"},
        source="verl: workers/fsdp_workers.py, rollout_mode: FSDP1's state_dict of shards, in a bucket",
    ),
    Choice(
        components={"weight_sync": "whole-model"},
        algorithms=SAMPLING,
        where={"adapter": LORA},
        source=f"{CONFIG}/rollout/rollout.yaml, layered_summon: false: the whole model is summoned",
    ),
    Choice(
        givens={"generator.gpu_memory_utilization": 0.5, "generator.max_batched_tokens": 8192},
        where={"rollout": ("vllm", "vllm-offloading", "vllm-awake", "vllm-0.9")},
        source=f"{CONFIG}/rollout/rollout.yaml, gpu_memory_utilization: 0.5, max_num_batched_tokens: 8192",
    ),
    Choice(
        givens={"generator.mem_fraction_static": 0.5},
        where={"rollout": ("sglang", "sglang-offloading", "sglang-awake")},
        source=f"{CONFIG}/rollout/rollout.yaml, gpu_memory_utilization: 0.5, handed over as mem_fraction_static",
    ),
)
VALUES = Choice(
    components={"critic.loss": "score"},
    source="verl: workers/critic/dp_critic.py, a model for token classification with one label",
)
SCORES = Choice(
    components={"reward.loss": "score"},
    source="verl: workers/fsdp_workers.py, RewardModelWorker: AutoModelForTokenClassification, one label",
)
FREED = Choice(
    givens={"reference.reshards_root": 1},
    where={"engine": "fsdp1", "reference.engine": "fsdp1-cpu-offload"},
    source="verl: workers/fsdp_workers.py, compute_ref_log_prob: _handle.reshard(True) of the root",
)
ASKS = (
    "micro_batch: ppo_micro_batch_size_per_gpu has no default; with use_dynamic_bsz choose packing=token-budget",
    "rollout_sequences: train_batch_size x rollout.n over the devices",
    "layouts.generator: tensor_model_parallel_size is 2 by default; here every device serves a copy unless said",
    "policy.offloads_parameters, policy.offloads_optimizer: param_offload and optimizer_offload are off by default",
)


def of(loss: str, version: str) -> tuple[Choice, ...]:
    """Return all defaults of a generation, whose loss path is its own."""
    return (
        *TRAINER,
        Choice(
            components={"loss": loss},
            algorithms=SAMPLING,
            source=f"verl {version}: entropy_coeff: 0, use_fused_kernels: false",
        ),
        Choice(
            components={"loss": "verl-megatron-b178a3c-entropy"},
            algorithms=SAMPLING,
            where={"engine": "megatron"},
            source=f"verl {version}: workers/actor/megatron_actor.py",
        ),
        VALUES,
        SCORES,
        *references(),
        FREED,
        *ROLLOUT,
    )
