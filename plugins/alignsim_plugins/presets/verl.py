"""What verl chooses in either of its generations: workers of January 2026, and the engines in their place."""

from __future__ import annotations

from alignsim import Choice
from alignsim_plugins.presets.serving import SGLANG, SLEEPING, VLLM

SAMPLING = ("PPO", "PPO-Reward-Elsewhere", "GRPO", "GRPO-No-KL", "RLOO", "REINFORCE++", "DAPO")
FSDP = ("fsdp1", "fsdp2", "fsdp2-cpu-offload")
MEGATRON = ("megatron", "megatron-offloading")
LORA = "lora"
ONLY = {"engine": (*FSDP, *MEGATRON), "adapter": ("full", LORA)}
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
        source=f"{CONFIG}/engine/fsdp.yaml, model_dtype: fp32, MixedPrecision: bf16 parameters, fp32 to reduce; "
        "optim/fsdp.yaml, torch.optim.AdamW, foreach unless told",
    ),
    Choice(
        givens={"reshards_root": 1, "wraps_embedding": 1},
        where={"engine": ("fsdp2", "fsdp2-cpu-offload")},
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
        where={"engine": MEGATRON},
        source=f"{CONFIG}/engine/megatron.yaml, use_distributed_optimizer, grad_reduce_in_fp32; "
        "recompute_granularity: null",
    ),
    Choice(
        givens={"expandable_segments": 1},
        source="verl: utils/device.py, set_expandable_segments: on while training, off while vLLM takes memory",
    ),
    Choice(
        givens={"policy.token_budget": 16384, "reference.token_budget": 16384, "critic.token_budget": 32768},
        where={"packing": "token-budget"},
        source=f"{CONFIG}/actor/actor.yaml, ppo_max_token_len_per_gpu: 16384, which log-probabilities take over; "
        "critic/critic.yaml: 32768",
    ),
)
LENGTHS = Choice(
    batch={"prompt_tokens": 512, "sequence_tokens": 1024, "rollout_tokens": 1024},
    algorithms=SAMPLING,
    source=f"{CONFIG}/data/legacy_data.yaml, max_prompt_length: 512, max_response_length: 512",
)
REWARD_MODEL = f"{CONFIG}/reward_model, use_reward_loop: true: an inference engine scores"
SCORES = (
    Choice(
        components={
            "reward.engine": "served-while-scoring",
            "reward.precision": "bf16",
            "reward.layers": "transformers",
            "reward.attention": "flash",
        },
        where={"engine": ONLY["engine"]},
        source=f"{REWARD_MODEL}; free_cache_engine: true, dtype: bfloat16",
    ),
    Choice(
        givens={"reward.gpu_memory_utilization": 0.5},
        where={"reward.engine": "served-while-scoring"},
        source=f"{REWARD_MODEL}; gpu_memory_utilization: 0.5",
    ),
    Choice(
        givens={"reward.token_budget": 8192},
        where={"packing": "token-budget", "reward.engine": "served-while-scoring"},
        source=f"{REWARD_MODEL}; max_num_batched_tokens: 8192",
    ),
    Choice(components={"reward.loss": "score"}, source=f"{REWARD_MODEL}: one number for a sequence"),
)
ROLLOUT = (
    Choice(
        components={"rollout": "vllm", "weight_sync": "bucketed"},
        algorithms=SAMPLING,
        source=f"{CONFIG}/rollout/rollout.yaml, free_cache_engine: true; fsdp_config.param_offload: false; "
        "update_weights_bucket_megabytes: 2048",
    ),
    Choice(
        givens={"generator.gpu_memory_utilization": 0.5, "generator.max_batched_tokens": 8192},
        where={"rollout": VLLM},
        algorithms=SAMPLING,
        source=f"{CONFIG}/rollout/rollout.yaml, gpu_memory_utilization: 0.5, max_num_batched_tokens: 8192",
    ),
    Choice(
        givens={"generator.sleep_level": 2},
        where={"rollout": SLEEPING},
        algorithms=SAMPLING,
        source="verl: workers/rollout/vllm_rollout, sleep level 2",
    ),
    Choice(
        givens={"generator.sleep_level": 1},
        where={"rollout": SLEEPING, "policy.adapter": LORA},
        algorithms=SAMPLING,
        source="verl: rollout_mode and update_weights, sleep_level = 1 with adapters: the model's weights stay",
    ),
    Choice(
        givens={"generator.mem_fraction_static": 0.5},
        where={"rollout": SGLANG},
        algorithms=SAMPLING,
        source=f"{CONFIG}/rollout/rollout.yaml, gpu_memory_utilization: 0.5, handed over as mem_fraction_static",
    ),
)
ASKS = (
    "micro_batch: ppo_micro_batch_size_per_gpu has no default; with use_dynamic_bsz choose packing=token-budget, "
    "and token_budget for another ppo_max_token_len_per_gpu; while models score, log_prob_micro_batch_size_per_gpu: "
    "--set score:micro_batch=...",
    "rollout_sequences: train_batch_size x rollout.n over the devices",
    "layouts.generator: tensor_model_parallel_size is 2 by default; here every device serves a copy unless said",
    "layout: sequence_parallel is true by default with Megatron; it matters with tensor ranks",
    "policy.offloads_parameters, policy.offloads_optimizer: param_offload and optimizer_offload are off by default; "
    "with Megatron choose engine=megatron-offloading",
    "weight_sync: adapters-by-layer with layered_summon",
    "lora_rank: lora_rank has no default with adapters; policy.adapter is the actor's alone, a critic has its own",
    "places: a reward model that is served is in a process of its own: places: {reward: {process: reward}}",
)
LEFT_OUT = (
    "a generative reward model's answers",
    "with adapters under fsdp2-cpu-offload (offload_policy), that the reference is the actor on the host too",
)


def of(loss: str, version: str, workers: str, megatron: str) -> tuple[Choice, ...]:
    """Return all defaults of a generation: its FSDP ``workers`` and loss path, and its Megatron workers."""
    always = f"verl {version}: {workers}: a role that is not trained is always offloaded to the host"
    without = f"verl {version}: {workers}: with adapters the reference is the actor without them"
    state = f"verl {version}: {workers}"
    return (
        *TRAINER,
        LENGTHS,
        Choice(components={"loss": loss}, source=f"verl {version}: entropy_coeff: 0, use_fused_kernels: false"),
        Choice(
            components={"loss": "megatron-d98e8a6"},
            where={"engine": MEGATRON},
            source=f"verl {version}: {megatron}, vocab_parallel_log_probs_from_logits; entropy_coeff: 0",
        ),
        Choice(
            components={"critic.loss": "score"},
            source=f"verl {version}: {workers}, critic: a model for token classification with one label",
        ),
        *SCORES,
        *(
            Choice(
                components={"reference.engine": f"{engine}-cpu-offload"},
                where={"engine": engine},
                source=f"{always}, CPUOffload(offload_params=True) and CPUOffloadPolicy",
            )
            for engine in ("fsdp1", "fsdp2")
        ),
        *(
            Choice(
                components={"reference.engine": f"{engine}-same-weights"},
                where={"engine": engine, "policy.adapter": LORA},
                source=without,
            )
            for engine in ("fsdp1", "fsdp2")
        ),
        *ROLLOUT,
        Choice(
            components={"weight_sync": "sharded-state"},
            algorithms=SAMPLING,
            where={"engine": "fsdp1"},
            source=f"{state}: FSDP1's state_dict of shards, in a bucket",
        ),
        Choice(
            components={"weight_sync": "tensor-ranks-bucketed"},
            algorithms=SAMPLING,
            where={"engine": MEGATRON},
            source=f"verl {version}: utils/megatron_utils.py, per_tensor_generator",
        ),
        Choice(
            components={"weight_sync": "whole-model"},
            algorithms=SAMPLING,
            where={"engine": "fsdp1", "policy.adapter": LORA},
            source=f"{CONFIG}/rollout/rollout.yaml, layered_summon: false; utils/fsdp_utils.py, collect_lora_params: "
            "the whole model is summoned, by FSDP1 alone",
        ),
    )
