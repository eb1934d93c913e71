"""Public reports of memory: issues, read-mes and notebooks whose settings are mostly stated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from published_runs import Published

SHORTER = (
    "neither precision nor lengths are stated: under autocast, or with prompts that are shorter than 2,048, "
    "it would be inside"
)
CAUSES: Mapping[str, str] = {
    "trl-3456-0.6b": SHORTER,
    "trl-3456-1.7b": SHORTER,
    "lf-5977-z3off": "unknown: 13 GB are shown where 6 to 8 are predicted. DeepSpeed's live parameters and its buckets "
    "are counted at their defaults; a cache that is never given back would explain it, but is not stated",
}
"""Why a verdict or a figure disagrees with what is reported."""

LEFT_OUT: Mapping[str, str] = {
    "ColossalChat, 32 rows": "one source, which is compared row by row: see ColossalChat",
    "AgileRL, 21 rows": "one source, which is compared row by row: see tests/validation/agilerl",
    "openrlhf-readme-ppo-34b-8x80, openrlhf-384, lf-544-lora": "models that are not in the catalogue",
    "openrlhf-392, trl-5200": "the devices are not stated",
    "openrlhf-171-host": "how many ranks share the host is not stated",
    "trl-3678": "batch and lengths are not stated",
    "lf-5273": "LLaMA-Factory's PPO, with a value head beside the logits, is not described here",
}
"""Reports that are not predicted, each with the reason."""

OFFLOADED = {"offload_optimizer": 1}


def of(preset: str, algorithm: str, model: str, devices: str, count: int, **more: Any) -> dict[str, Any]:
    """Return a run on so many devices of one kind, one model for every role."""
    others = dict.fromkeys(more.pop("models", ()), model)
    return {
        "preset": preset,
        "algorithm": algorithm,
        "models": {more.pop("role", "policy"): model, **others},
        "accelerator": devices,
        "layout": {"data": count},
        **more,
    }


def sizes(micro: int, tokens: int, prompt: int = 0, rollouts: int = 0) -> dict[str, int]:
    """Return a batch; with rollouts, as long as a row."""
    found = {"micro_batch": micro, "sequence_tokens": tokens, "prompt_tokens": prompt}
    return found | ({"rollout_sequences": rollouts, "rollout_tokens": tokens} if rollouts else {})


def scored(micro: int) -> dict[str, dict[str, int]]:
    """Return how many samples are scored at once."""
    return {"givens": {"score:micro_batch": micro}}


def reports() -> Iterator[Published]:
    """Yield all of them."""
    yield from _openrlhf()
    yield from _trl()
    yield from _llama_factory()


def _openrlhf() -> Iterator[Published]:
    readme, tracker = "OpenRLHF, README", "OpenRLHF, issue"
    roles = ("critic", "reward", "reference")
    for key, model, micro in (("7b", "Llama-2-7B", 8), ("13b", "Llama-2-13B", 4)):
        yield Published(
            f"openrlhf-readme-ppo-{key}-8x80",
            readme,
            True,
            of(
                "openrlhf",
                "PPO",
                model,
                "A100-SXM4-80GB",
                4,
                models=("critic", "reward"),
                components={
                    "engine": "zero-2",
                    "recompute": "full",
                    "rollout": "transformers-cache",
                    "reference.engine": "single-device",
                    "reward.engine": "single-device",
                },
                givens={
                    "policy.offload_optimizer": 1,
                    "critic.offload_optimizer": 1,
                    "score:micro_batch": 2 * micro,
                },
                layouts={"critic": {"data": 2}, "reward": {"data": 1}, "reference": {"data": 1}},
                places={role: {"process": role, "pool": role} for role in roles},
                batch=sizes(micro, 2048, 1024, 2 * micro),
            ),
            "as configured; real ones are shorter",
        )
    yield Published(
        "openrlhf-519",
        f"{tracker} 519",
        False,
        of(
            "openrlhf",
            "PPO",
            "Llama-3-8B",
            "H100-SXM5-80GB",
            8,
            models=("critic", "reward"),
            components={"engine": "zero-2", "recompute": "full", "rollout": "transformers-cache"},
            givens={"policy.offload_optimizer": 1, "critic.offload_optimizer": 1, "score:micro_batch": 4},
            batch=sizes(2, 2048, 1024, 4),
        ),
    )
    yield Published(
        "openrlhf-851-zero2",
        f"{tracker} 851",
        False,
        of(
            "openrlhf",
            "GRPO-No-KL",
            "Llama-3-70B",
            "H100-SXM5-80GB",
            40,
            components={"engine": "zero-2", "recompute": "full", "rollout": "none"},
            batch=sizes(1, 2048, 1024),
        ),
        assumed="devices of 80 GB, lengths",
    )
    long = {"components": {"engine": "zero-3", "recompute": "full", "rollout": "none"}}
    yield Published(
        "openrlhf-887",
        f"{tracker} 887",
        False,
        of(
            "openrlhf",
            "GRPO-No-KL",
            "Qwen2.5-7B",
            "H100-SXM5-80GB",
            3,
            batch=sizes(1, 37888, 1024),
            **scored(1),
            **long,
        ),
        assumed="recomputation; the reference is elsewhere",
    )
    for micro, runs in ((1, True), (2, False)):
        yield Published(
            f"openrlhf-908-mb{micro}",
            f"{tracker} 908",
            runs,
            of(
                "openrlhf",
                "GRPO-No-KL",
                "Qwen2.5-7B",
                "H20-96GB",
                8,
                batch=sizes(micro, 26048, 13024),
                **scored(2),
                **long,
            ),
            "as configured; real ones are not stated",
            assumed="the reference is elsewhere",
        )
    yield Published(
        "openrlhf-901",
        f"{tracker} 901",
        False,
        of(
            "openrlhf",
            "GRPO-No-KL",
            "Qwen2.5-7B",
            "RTX-6000-Ada-48GB",
            2,
            components={"engine": "zero-2", "recompute": "full", "rollout": "none"},
            batch=sizes(2, 1025, 1024),
            **scored(2),
        ),
        assumed="recomputation; the reference is elsewhere",
    )
    yield Published(
        "openrlhf-277",
        f"{tracker} 277",
        False,
        of(
            "openrlhf",
            "PPO",
            "Llama-2-13B",
            "A800-SXM4-80GB",
            4,
            models=("critic", "reward"),
            components={"engine": "zero-2", "recompute": "full", "rollout": "transformers-cache"},
            batch=sizes(1, 2048, 1024, 4),
            **scored(4),
        ),
        assumed="Llama-2-13B for CodeLlama-13B, of the same shape",
    )
    yield Published(
        "openrlhf-698",
        f"{tracker} 698",
        False,
        of(
            "openrlhf",
            "SFT",
            "Llama-3-8B",
            "A100-SXM4-80GB",
            1,
            components={"engine": "zero-2", "recompute": "full"},
            batch=sizes(1, 128),
        ),
    )


def _trl() -> Iterator[Published]:
    handbook, tracker = "huggingface/alignment-handbook and what was made with it", "TRL, issue"
    alone = {"engine": "single-device", "precision": "fp32", "recompute": "none"}
    for key, devices, attention, offloads in (
        ("notus-dpo-7b-8xa100-40", "A100-SXM4-40GB", "flash", {"offload_optimizer": 1, "offload_param": 1}),
        ("handbook-dpo-7b-8xa100-80", "A100-SXM4-80GB", "eager", {}),
    ):
        yield Published(
            key,
            handbook,
            True,
            of(
                "trl-0.19",
                "DPO",
                "Mistral-7B-v0.1",
                devices,
                8,
                components={
                    "engine": "zero-3",
                    "recompute": "full",
                    "loss": "naive-fp32",
                    "attention": attention,
                    "optimizer": "adamw-loop",
                },
                givens={f"policy.{name}": value for name, value in offloads.items()},
                batch=sizes(8, 1024, 512),
            ),
            assumed="Adam's moments, where RMSprop has one",
        )
    yield Published(
        "trl-nb-grpo-qlora-7b-t4",
        "TRL, examples/notebooks",
        True,
        of(
            "trl-1.16",
            "GRPO-No-KL",
            "Qwen2-7B",
            "T4-16GB",
            1,
            components={
                "engine": "single-device",
                "adapter": "qlora",
                "precision": "autocast-bf16",
                "optimizer": "paged-adamw-8bit",
                "loss": "liger-0.6.4-grpo",
            },
            givens={"lora_rank": 32},
            batch=sizes(8, 512, 256, 8),
        ),
        measured={"reserved": 8.832e9 / 2**30},
        assumed="prompts of 256 tokens; 16 bits are bf16's, where it has fp16's",
    )
    yield Published(
        "trl-3168",
        f"{tracker} 3168",
        False,
        of("trl-0.19", "DPO", "Qwen2.5-0.5B", "A100-SXM4-40GB", 1, components=alone, batch=sizes(8, 1024, 512)),
        assumed="a device of 40 GB",
    )
    yield Published(
        "trl-4585",
        f"{tracker} 4585",
        False,
        of(
            "trl-0.19",
            "GRPO-No-KL",
            "Qwen3-0.6B",
            "A10G-24GB",
            8,
            components={"engine": "zero-3", "recompute": "full", "rollout": "vllm", "weight_sync": "one-by-one"},
            givens={"generator.gpu_memory_utilization": 0.3},
            places={"generator": {"process": "trainer"}},
            batch=sizes(1, 20480, 512, 4),
        ),
        assumed="prompts of 512 tokens among them",
    )
    yield Published(
        "trl-2719",
        f"{tracker} 2719",
        False,
        of(
            "trl-0.19",
            "TRL-PPO",
            "Qwen2.5-7B",
            "A100-SXM4-80GB",
            1,
            models=("critic", "reward"),
            components=alone,
            batch=sizes(1, 565, 512, 1),
        ),
        assumed="lengths",
    )
    yield Published(
        "trl-1024",
        f"{tracker} 1024",
        False,
        of(
            "trl-0.19",
            "DPO",
            "Mistral-7B-v0.1",
            "H100-SXM5-80GB",
            1,
            components={**alone, "loss": "naive-fp32"},
            batch=sizes(4, 4096, 512),
        ),
    )
    yield Published(
        "trl-3218",
        f"{tracker} 3218",
        False,
        of(
            "trl-0.19",
            "RM",
            "Llama-3-70B",
            "H100-SXM5-80GB",
            8,
            role="reward",
            components={"engine": "fsdp1-cpu-offload", "recompute": "none", "optimizer": "sgd"},
            batch=sizes(1, 1024),
        ),
    )
    for key, model, runs, measured in (
        ("0.6b", "Qwen3-0.6B", True, 48.12),
        ("1.7b", "Qwen3-1.7B", True, 76.32),
        ("4b", "Qwen3-4B", False, None),
    ):
        yield Published(
            f"trl-3456-{key}",
            f"{tracker} 3456",
            runs,
            of(
                "trl-0.19",
                "GRPO-No-KL",
                model,
                "A100-SXM4-80GB",
                1,
                components=alone,
                batch=sizes(4, 3072, 2048, 4),
            ),
            measured={"device": measured} if measured else {},
            assumed="32 bits, the default; as many generations as the batch",
        )


def _llama_factory() -> Iterator[Published]:
    tracker = "LLaMA-Factory, issue"
    yield Published(
        "lf-7938",
        f"{tracker} 7938",
        False,
        of(
            "llama-factory",
            "DPO",
            "Qwen2.5-7B",
            "A100-SXM4-80GB",
            64,
            components={"engine": "zero-3", "attention": "flash"},
            givens={"lora_rank": 32, **OFFLOADED},
            batch=sizes(1, 32768),
        ),
    )
    for key, runs, offloads, measured in (
        ("lf-5977-z3", False, {}, {}),
        ("lf-5977-z3off", True, {"offload_optimizer": 1, "offload_param": 1}, {"device": 13.0}),
    ):
        yield Published(
            key,
            f"{tracker} 5977",
            runs,
            of(
                "llama-factory",
                "SFT",
                "Llama-3-8B",
                "RTX-3090-24GB",
                8,
                components={"engine": "zero-3", "adapter": "full"},
                givens=offloads,
                batch={**sizes(1, 1024), "accumulation_steps": 2},
            ),
            measured=measured,
            assumed="16 bits are bf16's, where it has fp16's",
        )
