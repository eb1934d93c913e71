"""DeepSpeed-Chat: actor and critic under ZeRO, answers by transformers through the training engine."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl

MAIN = "DeepSpeedExamples: applications/DeepSpeed-Chat/training/step3_rlhf_finetuning/main.py"
UTILS = "DeepSpeedExamples: applications/DeepSpeed-Chat/dschat/utils/ds_utils.py"
ZERO = ("zero", "zero-1", "zero-2", "zero-3")
FETCHED = {"max_live_parameters": 3e7, "prefetch_bucket_size": 3e7}
TRAINED = {"SFT": ("policy",), "RM": ("reward",), "PPO": ("policy", "critic")}

CHOICES = (
    Choice(
        components={"layers": "transformers", "adapter": "full", "recompute": "none", "packing": "padded"},
        source=f"{MAIN}, actor_lora_dim 0, actor_gradient_checkpointing off unless asked for",
    ),
    Choice(
        components={"precision": "bf16-master", "optimizer": "adamw-fused"},
        source=f"{UTILS}, get_train_ds_config: 16-bit weights, a copy in 32; FusedAdam",
    ),
    Choice(
        givens={"overlap_comm": 1},
        where={"engine": ZERO},
        source=f"{UTILS}, get_train_ds_config: overlap_comm True",
    ),
    Choice(
        givens={"param_persistence_threshold": 1e4},
        where={"engine": "zero-3"},
        source=f"{UTILS}, get_train_ds_config and get_eval_ds_config: stage3_param_persistence_threshold",
    ),
    *(
        Choice(
            givens={f"{role}.{name}": number for role in roles for name, number in FETCHED.items()},
            algorithms=algorithm,
            where={"engine": "zero-3"},
            source=f"{UTILS}, get_train_ds_config: stage3_max_live_parameters and stage3_prefetch_bucket_size",
        )
        for algorithm, roles in TRAINED.items()
    ),
    Choice(
        batch={"micro_batch": 16, "sequence_tokens": 512},
        algorithms=("SFT", "RM"),
        source="DeepSpeedExamples: applications/DeepSpeed-Chat/training, step1 and step2, main.py, "
        "per_device_train_batch_size 16, max_seq_len 512",
    ),
    Choice(
        components={"rollout": "transformers-cache"},
        batch={
            "micro_batch": 16,
            "prompt_tokens": 256,
            "sequence_tokens": 512,
            "rollout_tokens": 512,
            "rollout_sequences": 16,
        },
        algorithms="PPO",
        source=f"{MAIN}, per_device_generation_batch_size 16, max_prompt_seq_len 256, max_answer_seq_len 256, "
        "enable_hybrid_engine off unless asked for",
    ),
    Choice(
        components={"reference.engine": "zero-inference", "reward.engine": "zero-inference"},
        algorithms="PPO",
        where={"engine": "zero-3"},
        source=f"{UTILS}, get_eval_ds_config: of the actor's stage",
    ),
    Choice(
        components={"reference.engine": "zero-replica", "reward.engine": "zero-replica"},
        algorithms="PPO",
        where={"engine": ("zero-1", "zero-2")},
        source=f"{UTILS}, get_eval_ds_config: stage 0 unless 3",
    ),
    Choice(components={"loss": "cross-entropy"}, algorithms="SFT", source="DeepSpeed-Chat, step 1: the model's own"),
    Choice(components={"loss": "score"}, algorithms="RM", source="DeepSpeed-Chat: dschat/utils/model/reward_model.py"),
    Choice(
        components={"critic.loss": "score", "reward.loss": "score"},
        algorithms="PPO",
        source="DeepSpeed-Chat: dschat/utils/model/reward_model.py, v_head",
    ),
)

DEEPSPEED_CHAT = Preset(
    name="deepspeed-chat-0.9",
    framework="DeepSpeed-Chat",
    version="0.9",
    aliases=("deepspeed-chat",),
    algorithms=("SFT", "RM", "PPO"),
    only={"engine": ZERO},
    choices=CHOICES,
    source="DeepSpeedExamples 6eb5247d and 38ef1962, applications/DeepSpeed-Chat",
    asks=(
        "engine: actor_zero_stage and critic_zero_stage are 0 by default, and 2 or 3 in its scripts",
        "attention: what transformers chooses: sdpa from 4.36 on, eager before",
        "policy.loss, reference.loss: of PPO, gather_log_probs of whole logits in 16 bits has no loss path here; "
        "openrlhf-3c3be62 comes nearest",
        "rollout: transformers-cache-gathered where enable_hybrid_engine is given under stage 3",
        "reference.engine: where offload_reference_model is given",
    ),
    left_out=("the hybrid engine's workspace, and fp16's loss scale",),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer DeepSpeed-Chat."""
    yield DEEPSPEED_CHAT
