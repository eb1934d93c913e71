"""NeMo-RL: a policy under FSDP2 with DTensor or under Megatron, and vLLM on the same devices."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Const, Preset, hookimpl
from alignsim_plugins.presets.serving import SLEEPING, VLLM

SAMPLING = ("GRPO", "GRPO-No-KL", "RLOO", "DAPO")
PAIRS = ("DPO", "DPO-Precompute-Reference")
LABELLED = ("SFT", "RM", *PAIRS)
READ = "NeMo-RL 7ea279ab"
GRPO = f"{READ}: examples/configs/grpo_math_1B.yaml"
WORKER = f"{READ}: models/policy/workers/dtensor_policy_worker_v2.py"
MEGATRON_WORKER = f"{READ}: models/policy/workers/megatron_policy_worker.py"
DTENSOR = ("fsdp2", "fsdp2-tensor")
MEGATRON = ("megatron", "megatron-offloading")

TRAINER = (
    Choice(
        components={"engine": "fsdp2", "layers": "transformers", "adapter": "full", "recompute": "none"},
        source=f"{GRPO}, dtensor_cfg: enabled, activation_checkpointing: false",
    ),
    Choice(
        components={"precision": "bf16-gathered", "optimizer": "adamw-loop"},
        givens={"reduce_bytes": 4},
        where={"engine": DTENSOR},
        source=f"{WORKER}: MixedPrecisionPolicy, bf16 parameters, reduced in 32 bits; AdamW, foreach and fused off",
    ),
    Choice(
        givens={"gathers_logits": 0},
        where={"engine": "fsdp2-tensor"},
        source=f"{READ}: models/dtensor/parallelize.py, lm_head: ColwiseParallel with its logits divided",
    ),
    Choice(
        components={
            "layers": "megatron",
            "attention": "megatron-fused",
            "precision": "bf16-master",
            "optimizer": "megatron-adam",
        },
        where={"engine": MEGATRON},
        source=f"{GRPO}, megatron_cfg: use_distributed_optimizer, grad_reduce_in_fp32: false",
    ),
    Choice(
        givens={"master_bytes": Const(2, "byte/parameter")},
        where={"engine": MEGATRON, "precision": "bf16-master"},
        source=f"{GRPO}, use_precision_aware_optimizer; Megatron-LM: OptimizerConfig.store_param_remainders, the half "
        "of a 32-bit weight that the 16-bit one has not; moments in 32 bits",
    ),
    Choice(
        givens={"lora_rank": 8},
        where={"adapter": "lora"},
        source=f"{GRPO}, lora_cfg: dim: 8, match_all_linear",
    ),
    Choice(
        components={"loss": "nemo-rl-7ea279a"},
        source=f"{READ}: distributed/model_utils.py, DistributedLogprob, for SFT and DPO as well",
    ),
)
LABELS = (
    Choice(
        components={"packing": "padded"},
        algorithms=LABELLED,
        source=f"{READ}: sft.yaml, dpo.yaml, rm.yaml: sequence_packing: enabled: false",
    ),
    Choice(
        components={"attention": "sdpa"},
        givens={"padded": 0},
        algorithms=LABELLED,
        where={"engine": DTENSOR, "packing": "padded"},
        source=f"{WORKER}: no attn_implementation unless sequences are packed; attention_mask_input_all_ones: no mask",
    ),
    Choice(
        batch={"micro_batch": 1, "sequence_tokens": 1024},
        algorithms="SFT",
        source=f"{READ}: sft.yaml, train_micro_batch_size: 1, max_total_sequence_length: 1024",
    ),
    Choice(
        batch={"micro_batch": 2, "sequence_tokens": 1024},
        algorithms=PAIRS,
        source=f"{READ}: dpo.yaml, train_micro_batch_size: 2, max_total_sequence_length: 1024",
    ),
    Choice(
        components={"loss": "score"},
        batch={"micro_batch": 1, "sequence_tokens": 8192},
        algorithms="RM",
        source=f"{READ}: rm.yaml, train_micro_batch_size: 1, max_total_sequence_length: 8192",
    ),
)
ROLLOUT = (
    Choice(
        components={"packing": "packed"},
        batch={"micro_batch": 4, "sequence_tokens": 512, "rollout_tokens": 512, "rollout_sequences": 512},
        algorithms=SAMPLING,
        source=f"{GRPO}, sequence_packing: enabled, train_micro_batch_size: 4, max_total_sequence_length: 512, "
        "32 prompts x 16 generations",
    ),
    Choice(
        components={"attention": "flash"},
        algorithms=SAMPLING,
        where={"engine": DTENSOR},
        source=f"{WORKER}: flash_attention_2 where sequences are packed",
    ),
    Choice(
        components={"rollout": "vllm-offloading", "weight_sync": "bucketed"},
        algorithms=SAMPLING,
        source=f"{GRPO}, colocated: enabled; {READ}: weight_sync/ipc_weight_synchronizer.py, full tensors in a buffer",
    ),
    Choice(
        components={"weight_sync": "tensor-ranks-bucketed"},
        algorithms=SAMPLING,
        where={"engine": MEGATRON},
        source=f"{MEGATRON_WORKER}, stream_weights_via_ipc_zmq: parts of tensor ranks are gathered and joined",
    ),
    Choice(
        givens={"policy.offloads_optimizer": 1},
        algorithms=SAMPLING,
        where={"engine": DTENSOR, "rollout": SLEEPING},
        source=f"{WORKER}, offload_before_refit and prepare_for_training: the optimizer is there to train alone",
    ),
    Choice(
        components={"policy.engine": "megatron-offloading"},
        algorithms=SAMPLING,
        where={"engine": "megatron", "rollout": SLEEPING},
        source=f"{MEGATRON_WORKER}, offload_before_refit: optimizer and buffers of gradients; offload_after_refit",
    ),
    Choice(
        givens={"generator.gpu_memory_utilization": 0.6},
        algorithms=SAMPLING,
        where={"rollout": VLLM},
        source=f"{GRPO}, vllm_cfg: gpu_memory_utilization: 0.6",
    ),
    Choice(
        givens={"generator.sleep_level": 1},
        algorithms=SAMPLING,
        where={"rollout": SLEEPING},
        source=f"{READ}: generation/vllm, sleep(level=1)",
    ),
)
REFERENCES = tuple(
    Choice(
        components={"reference.engine": f"{engine}-swapped-weights"},
        where={"engine": engine},
        source=f"{MEGATRON_WORKER if engine == 'megatron' else WORKER}, use_reference_model: weights that wait on the "
        "host take the policy's place",
    )
    for engine in (*DTENSOR, "megatron")
)

NEMO_RL = Preset(
    name="nemo-rl-2026.08",
    framework="NeMo-RL",
    version="August 2026 (7ea279ab)",
    aliases=("nemo-rl",),
    algorithms=(*LABELLED, *SAMPLING),
    only={"engine": (*DTENSOR, "megatron"), "adapter": ("full", "lora")},
    choices=(*TRAINER, *LABELS, *ROLLOUT, *REFERENCES),
    source=f"{READ}: examples/configs, models/policy",
    asks=(
        "algorithm: DPO's reference runs ahead of a step, as in DPO-Precompute-Reference; in DPO it runs on top of "
        "the policy's activations, which is more",
        "prompt_tokens: a sequence is cut at max_total_sequence_length, prompt and answer together",
        "layout: under Megatron, DPO has 2 tensor ranks that share tokens by default",
        "first_moment_bytes, second_moment_bytes: 2 under Megatron with exp_avg_dtype and exp_avg_sq_dtype in 16 bits",
        "expandable_segments: 1 where PYTORCH_CUDA_ALLOC_CONF says so",
        "loss: nemo-rl-7ea279a-chunked with logprob_chunk_size, nemo-rl-7ea279a-fused with use_fused_linear_logprobs",
    ),
    left_out=(
        "the buffer of a refit, 0.3 of what is free (NRL_REFIT_BUFFER_MEMORY_RATIO): a bucket of 2 GiB is counted",
        "PPO and distillation, whose value models and teachers are not read here",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer NeMo-RL."""
    yield NEMO_RL
