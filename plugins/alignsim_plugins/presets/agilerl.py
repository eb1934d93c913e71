"""AgileRL: adapters on one device, with vLLM in the trainer's process."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl

SAMPLING = ("GRPO", "GRPO-No-KL")
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
        source=f"{PROFILE}: LoRA of all linear layers over bf16 weights, gradient checkpointing, attn auto",
    ),
    Choice(components={"optimizer": "adamw-foreach"}, source="AgileRL: torch.optim.AdamW of the adapters"),
    Choice(
        components={"rollout": "vllm", "weight_sync": "one-by-one"},
        source=f"{PROFILE}: vLLM colocated, sleep mode",
    ),
    Choice(
        components={"loss": "agilerl-2.8"},
        source="AgileRL 2.8: algorithms/core/llm_ops/fused_logprobs.py",
    ),
    Choice(
        components={"reference.engine": "same-weights-own-adapters"},
        source="AgileRL 2.8: use_separate_reference_adapter",
    ),
)

AGILERL = Preset(
    name="agilerl-2.8",
    framework="AgileRL",
    version="2.8 (0151c660)",
    aliases=("agilerl",),
    algorithms=SAMPLING,
    only={"engine": ("single-device", "ddp"), "adapter": ("lora", "qlora")},
    choices=CHOICES,
    source=PROFILE,
    asks=(
        "places: the generator is in the trainer's process: places: {generator: {process: trainer}}",
        "micro_batch, sequence_tokens, prompt_tokens, rollout_tokens: a micro-batch is at most a group",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer AgileRL."""
    yield AGILERL
