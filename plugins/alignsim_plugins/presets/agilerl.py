"""AgileRL: adapters on one device; with vLLM in the trainer's process, whose weights go to the host meanwhile."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl

SAMPLING = ("GRPO", "GRPO-No-KL")
ENGINES = ("single-device", "ddp")
GRPO = "AgileRL 2.8: algorithms/grpo.py, GRPO.__init__"
PROFILE = "AgileRL 0151c660: tools/memory_profiling"

CHOICES = (
    Choice(
        components={
            "engine": "single-device",
            "layers": "transformers",
            "attention": "sdpa",
            "adapter": "lora",
            "precision": "bf16",
            "recompute": "full",
            "packing": "padded",
        },
        source=f"{GRPO}: gradient_checkpointing=True, use_sequence_packing=False; {PROFILE}: adapters of all linear "
        "layers over bf16 weights, attn_implementation auto, without flash_attn",
    ),
    Choice(
        components={"precision": "autocast-fp32"},
        where={"adapter": "qlora"},
        source="AgileRL 2.8: memory/specs.py, quantization nf4: norms and head are cast up to 32 bits",
    ),
    Choice(components={"optimizer": "adamw-foreach"}, source="AgileRL: torch.optim.AdamW of the adapters"),
    Choice(
        components={"loss": "agilerl-2.8"},
        source="AgileRL 2.8: algorithms/core/llm_ops/fused_logprobs.py",
    ),
    Choice(
        components={"reference.engine": "same-weights-own-adapters"},
        where={"engine": ENGINES},
        source=f"{GRPO}: use_separate_reference_adapter=True",
    ),
    Choice(
        components={"rollout": "transformers-cache"},
        batch={"sequence_tokens": 1024, "rollout_tokens": 1024, "rollout_sequences": 8},
        source=f"{GRPO}: use_vllm=False, max_model_len=1024, group_size=8",
    ),
    Choice(
        components={"weight_sync": "one-by-one"},
        where={"rollout": ("vllm", "vllm-offloading", "vllm-awake", "vllm-0.17-offloading")},
        source=f"{PROFILE}: vLLM in the trainer's process",
    ),
)

AGILERL = Preset(
    name="agilerl-2.8",
    framework="AgileRL",
    version="2.8 (0151c660)",
    aliases=("agilerl",),
    algorithms=SAMPLING,
    only={"engine": ENGINES, "adapter": ("lora", "qlora")},
    choices=CHOICES,
    source=f"{GRPO}; {PROFILE}",
    asks=(
        "rollout: vllm-offloading with use_vllm, as use_memory_efficient_params is true; the generator is in the "
        "trainer's process: places: {generator: {process: trainer}}",
        "generator.gpu_memory_utilization: VLLMConfig's",
        "micro_batch: micro_batch_size_per_gpu, at most a group",
        "prompt_tokens: max_model_len less max_output_tokens",
        "reference.engine: same-weights with use_separate_reference_adapter=False",
        "lora_rank: LoraConfig's r",
    ),
    left_out=("a critic's adapters on the policy's weights (PPO), DPO and SFT: not read here",),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer AgileRL."""
    yield AGILERL
