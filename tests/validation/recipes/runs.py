"""Published recipes as runs: what each says of itself, in our words; the rest is the framework's preset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from published_runs import Published

GSM8K = {"prompt_tokens": 100, "sequence_tokens": 375, "rollout_tokens": 375}
"""Its prompts have some 100 tokens and answers 200 to 350: the middle. Scripts allow far more than runs."""
OFFLOADED = {"policy.offloads_parameters": 1, "policy.offloads_optimizer": 1}
VERL = {"preset": "verl-2026.01", "algorithm": "GRPO"}
EXAMPLES = "volcengine/verl b178a3cd, examples"


CAUSES: Mapping[str, str] = {
    "verl-72b-grpo-32xH800": (
        "a mini-batch of 256 x 5 answers is 40 on each of 32 devices, so that at GSM8K's lengths no micro-"
        "batch has 24,000 tokens: at 40 x 375, 15,000, it is a close call"
    ),
    "verl-72b-lora-8xH100-23": (
        "the boundary is the largest batch of a search at lengths that vary; expected is 18 % below what is "
        "usable. What is missing is unknown: neither longer answers (450 tokens: 14 %) nor the summoning of "
        "weights explain it"
    ),
    "verl-32b-ppo-32gpu": (
        "a critic that keeps all activations of 3,000 tokens; whether the script runs as it stands is not "
        "said (evidence: an example)"
    ),
    "verl-32b-grpo-16gpu-new": (
        "whole gradients of 32 billion parameters, 61 GiB, are added up before they are reduced where there "
        "are several micro-batches; whether the script runs as it stands is not said (evidence: an example)"
    ),
    "openrlhf-8b-ppo-hybrid-8gpu": (
        "16,384 tokens of a critic that keeps all activations are 98 GiB: it recomputes, or packs fewer; "
        "which is unknown"
    ),
}
"""Why a verdict disagrees with what is said."""

LEFT_OUT: Mapping[str, str] = {
    "verl-235b-a22b-grpo-32xH20": "what it recomputes is not stated, and decides it",
    "verl-671b-96xH20": "neither its lengths nor its stages are stated",
    "openrlhf-qwen3-4b-reinforce-4gpu": "ring attention under DeepSpeed is not modelled",
    "trl-grpo-7b-4xH20": "a summary without settings",
    "trl-dpo-0.5b-17gb": "a summary without settings",
    "trl-grpo-qwen3": "a summary without versions or optimizer",
    "trl-grpo-logprob-temp": "one function, which the loss paths are compared with",
    "verl-entropy-32b": "a summary without settings",
    "verl-sleep-leftover": "what sleep leaves, which the fixed costs are made of",
}
"""Recipes that are not predicted, each with the reason."""


def verl(devices: int, model: str, *, served: int, share: float, **more: Any) -> dict[str, Any]:
    """Return a run of verl's: its devices, and vLLM on all of them with so many tensor ranks."""
    groups = more.pop("sequence", 1)
    given = {"generator.gpu_memory_utilization": share, **more.pop("givens", {})}
    batch = {"rollout_sequences": 1280, **more.pop("batch")}
    return {
        **VERL,
        "models": {"policy": model, **more.pop("models", {})},
        "accelerator": more.pop("accelerator", "H100-SXM5-80GB"),
        "layout": {"data": devices // groups, "sequence": groups},
        "layouts": {"generator": {"tensor": served, "data": devices // served}},
        "givens": given,
        "batch": batch,
        **more,
    }


def lora(devices: int, model: str, sequences: int, *, groups: int, share: float) -> dict[str, Any]:
    """Return one of verl's searches for the largest batch with adapters, all of it in one micro-batch."""
    return verl(
        devices,
        model,
        served=devices,
        share=share,
        sequence=groups,
        batch={**GSM8K, "micro_batch": sequences * groups},
        components={
            "adapter": "lora",
            "rollout": "vllm-offloading",
            "loss": "verl-2026.01-entropy-compiled",
            "weight_sync": "bucketed",
            **({"attention": "ulysses-flash"} if groups > 1 else {}),
        },
        givens={"lora_rank": 32, "generator.max_sequences": 512, "generator.max_batched_tokens": 1536, **OFFLOADED},
    )


def recipes() -> Iterator[Published]:
    """Yield all of them."""
    real = "GSM8K's"
    for key, devices, model, share in (("7b", 2, "Qwen2.5-7B", 0.6), ("14b", 4, "Qwen2.5-14B", 0.5)):
        yield Published(
            f"verl-{key}-grpo-{devices}xH800",
            f"{EXAMPLES}/tuning/{key}",
            True,
            verl(
                devices,
                model,
                served=devices,
                share=share,
                accelerator="H800-SXM5-80GB",
                batch={**GSM8K, "micro_batch": 16},
                components={"rollout": "vllm-offloading"},
                givens=OFFLOADED,
            ),
            real,
        )
    yield Published(
        "verl-72b-grpo-32xH800",
        f"{EXAMPLES}/tuning/70b",
        True,
        verl(
            32,
            "Qwen2.5-72B",
            served=16,
            share=0.6,
            accelerator="H800-SXM5-80GB",
            batch={"prompt_tokens": 512, "sequence_tokens": 1024, "rollout_tokens": 1024},
            components={"rollout": "vllm-offloading", "packing": "token-budget"},
            givens={"token_budget": 24000, **OFFLOADED},
        ),
        "24,000 tokens really are packed",
    )
    for key, devices, model, sequences, groups, share, fails in (
        ("1.5b", 1, "Qwen2.5-1.5B", 128, 1, 0.1, ()),
        ("3b", 1, "Qwen2.5-3B", 62, 1, 0.1, ()),
        ("7b", 1, "Qwen2.5-7B", 16, 1, 0.2, ()),
        ("14b", 2, "Qwen2.5-14B", 58, 2, 0.25, (59,)),
        ("32b", 4, "Qwen2.5-32B", 44, 2, 0.3, (46,)),
        ("72b", 8, "Qwen2.5-72B", 22, 2, 0.4, (23,)),
    ):
        for count in (sequences, *fails):
            yield Published(
                f"verl-{key}-lora-{devices}xH100-{count}",
                f"{EXAMPLES}/tuning/{key}: the largest batch that ran, and the next",
                count == sequences,
                lora(devices, model, count, groups=groups, share=share),
                real,
            )
    yield from _verl_examples()
    yield from _others()


def _verl_examples() -> Iterator[Published]:
    real, example = "GSM8K's", f"{EXAMPLES}, a script"
    yield Published(
        "verl-7b-grpo-8gpu",
        f"{EXAMPLES}/grpo_trainer/run_qwen2-7b",
        True,
        verl(8, "Qwen2.5-7B", served=2, share=0.6, batch={**GSM8K, "micro_batch": 40}),
        real,
    )
    yield Published(
        "verl-32b-ppo-32gpu",
        f"{EXAMPLES}/ppo_trainer/run_qwen2.5-32b",
        True,
        verl(
            32,
            "Qwen2.5-32B",
            algorithm="PPO-Reward-Elsewhere",
            models={"critic": "Qwen2.5-32B"},
            served=4,
            share=0.5,
            components={"critic.recompute": "none"},
            batch={**GSM8K, "micro_batch": 8},
        ),
        "GSM8K's; MATH is longer. A reference on the host stands in, which the script has not",
    )
    for key, model, micro, served, share, algorithm in (
        ("ds7b-ppo", "DeepSeek-LLM-7B", 16, 4, 0.4, "PPO-Reward-Elsewhere"),
        ("7b-ppo-rm", "Qwen2.5-7B", 16, 1, 0.6, "PPO"),
    ):
        yield Published(
            f"verl-{key}-8gpu",
            example,
            True,
            verl(
                8,
                model,
                algorithm=algorithm,
                models={"critic": model} | ({"reward": model} if algorithm == "PPO" else {}),
                served=served,
                share=share,
                batch={**GSM8K, "micro_batch": micro},
                givens={"critic.micro_batch": 32},
            ),
            real,
        )
    yield Published(
        "verl-7b-ppo-seqbalance-8gpu",
        example,
        True,
        verl(
            8,
            "Qwen2.5-7B",
            algorithm="PPO-Reward-Elsewhere",
            models={"critic": "Qwen2.5-7B"},
            served=2,
            share=0.5,
            components={"packing": "token-budget"},
            batch={"prompt_tokens": 4096, "sequence_tokens": 8192, "rollout_tokens": 8192},
            givens={"policy.token_budget": 24000, "reference.token_budget": 24000, "critic.token_budget": 98304},
        ),
        "24,000 tokens of the actor and 98,304 of the critic really are packed",
    )
    yield Published(
        "verl-7b-grpo-megatron-8gpu",
        example,
        True,
        verl(
            8,
            "Qwen2.5-7B",
            served=2,
            share=0.6,
            batch={"prompt_tokens": 1024, "sequence_tokens": 2048, "rollout_tokens": 2048, "micro_batch": 4},
            components={"engine": "megatron"},
        )
        | {"layout": {"tensor": 2, "pipeline": 2, "data": 2}},
    )
    yield Published(
        "verl-30b-a3b-dapo-8xH20",
        "verl: recipe/dapo, tested on 1 to 4 nodes of H20",
        True,
        verl(
            8,
            "Qwen3-30B-A3B",
            algorithm="DAPO",
            served=4,
            share=0.5,
            accelerator="H20-96GB",
            batch={"prompt_tokens": 2048, "sequence_tokens": 10240, "rollout_tokens": 10240},
            components={"engine": "megatron", "recompute": "full", "packing": "token-budget"},
            givens={"token_budget": 10240, "policy.optimizer_offload_fraction": 1},
        )
        | {"layout": {"data": 8, "expert": 8, "expert_tensor": 1}},
    )
    yield Published(
        "verl-32b-grpo-8xH20-megatron",
        f"{EXAMPLES}/tuning/32b",
        True,
        verl(
            8,
            "Qwen2.5-32B",
            served=8,
            share=0.6,
            accelerator="H20-96GB",
            batch={**GSM8K, "micro_batch": 1},
            components={"engine": "megatron", "rollout": "vllm-offloading"},
        )
        | {"layout": {"tensor": 8, "sequence_parallel": True}},
        "GSM8K's; at most 8,192",
    )
    yield Published(
        "verl-qwen3-8b-grpo-8gpu-new",
        "verl 1dda039b, examples: a script",
        True,
        verl(
            8,
            "Qwen3-8B",
            preset="verl-2026.08",
            served=2,
            share=0.6,
            batch={"prompt_tokens": 1024, "sequence_tokens": 3072, "rollout_tokens": 3072, "accumulation_steps": 2},
            components={"packing": "token-budget"},
            givens={"token_budget": 24576},
        ),
        "24,576 tokens are packed, and there are several micro-batches",
    )
    yield Published(
        "verl-32b-grpo-16gpu-new",
        "verl 1dda039b, examples: a script",
        True,
        verl(
            16,
            "Qwen2.5-32B",
            preset="verl-2026.08",
            served=8,
            share=0.4,
            batch={
                "prompt_tokens": 1024,
                "sequence_tokens": 2048,
                "rollout_tokens": 2048,
                "micro_batch": 2,
                "accumulation_steps": 2,
            },
            components={"packing": "padded"},
        ),
    )


def _others() -> Iterator[Published]:
    openrlhf = "OpenRLHF, examples/scripts"
    hybrid = {
        "preset": "openrlhf",
        "accelerator": "A100-SXM4-80GB",
        "layout": {"data": 8},
        "layouts": {"generator": {"tensor": 2, "data": 4}},
    }
    yield Published(
        "openrlhf-8b-ppo-hybrid-8gpu",
        "OpenRLHF, README: 8 A100 of 80 GB with the hybrid engine and half of the memory for vLLM",
        True,
        {
            **hybrid,
            "algorithm": "PPO",
            "models": dict.fromkeys(("policy", "critic", "reward"), "Llama-3.1-8B"),
            "components": {
                "engine": "zero-3",
                "policy.recompute": "full",
                "packing": "token-budget",
                "rollout": "vllm-offloading",
            },
            "givens": {
                "token_budget": 16384,
                "generator.gpu_memory_utilization": 0.5,
                "generator.eager": 1,
            },
            "batch": {"sequence_tokens": 2048, "prompt_tokens": 1024, "rollout_tokens": 2048, "rollout_sequences": 128},
        },
        "16,384 tokens are packed",
    )
    yield Published(
        "openrlhf-8b-dapo-hybrid-8gpu",
        openrlhf,
        True,
        {
            **hybrid,
            "algorithm": "GRPO",
            "models": {"policy": "Llama-3.1-8B"},
            "components": {"engine": "zero-3", "recompute": "full", "packing": "packed", "rollout": "vllm-offloading"},
            "givens": {
                "generator.gpu_memory_utilization": 0.6,
                "generator.eager": 1,
                "score:micro_batch": 16,
            },
            "batch": {
                "micro_batch": 8,
                "sequence_tokens": 2048,
                "prompt_tokens": 1024,
                "rollout_tokens": 2048,
                "rollout_sequences": 128,
            },
        },
    )
    for key, algorithm, role in (("dpo", "DPO", "policy"), ("rm", "RM", "reward")):
        yield Published(
            f"openrlhf-8b-{key}-zero3-8gpu",
            openrlhf,
            True,
            {
                "preset": "openrlhf",
                "algorithm": algorithm,
                "models": {role: "Llama-3.1-8B"},
                "accelerator": "H100-SXM5-80GB",
                "layout": {"data": 8},
                "components": {"engine": "zero-3", "recompute": "full", "packing": "packed"},
                "batch": {"micro_batch": 1, "sequence_tokens": 8192},
            },
        )
    yield Published(
        "zephyr-7b-dpo-full-8xA100",
        "huggingface/alignment-handbook, scripts/README: tested on 8 A100 of 80 GB",
        True,
        {
            "preset": "trl-0.19",
            "algorithm": "DPO",
            "models": {"policy": "Mistral-7B-v0.1"},
            "accelerator": "A100-SXM4-80GB",
            "layout": {"data": 8},
            "components": {"engine": "zero-3", "recompute": "full", "loss": "naive-fp32", "attention": "flash"},
            "batch": {"micro_batch": 8, "sequence_tokens": 1024, "prompt_tokens": 512},
        },
    )
    yield Published(
        "zephyr-7b-dpo-qlora-1x4090",
        "huggingface/alignment-handbook, scripts/README: tested on an RTX 4090",
        True,
        {
            "preset": "trl-0.19",
            "algorithm": "DPO",
            "models": {"policy": "Mistral-7B-v0.1"},
            "accelerator": "RTX-4090-24GB",
            "components": {
                "engine": "single-device",
                "precision": "autocast-bf16",
                "adapter": "qlora",
                "recompute": "full",
                "loss": "naive-fp32",
                "attention": "flash",
                "optimizer": "paged-adamw",
            },
            "givens": {"lora_rank": 16, "lora_dropout": 0.05},
            "batch": {"micro_batch": 4, "sequence_tokens": 1024, "prompt_tokens": 512},
        },
    )
    yield Published(
        "trl-pythia6.9b-online-dpo-8xH100",
        "TRL, docs: Pythia of 1, 2.8 and 6.9 billion on 8 H100",
        True,
        {
            "preset": "trl-0.19",
            "algorithm": "Online-DPO",
            "models": {"policy": "Pythia-6.9B", "reward": "Pythia-6.9B"},
            "accelerator": "H100-SXM5-80GB",
            "layout": {"data": 8},
            "components": {"engine": "zero-2", "recompute": "full"},
            "batch": {
                "micro_batch": 4,
                "sequence_tokens": 565,
                "prompt_tokens": 512,
                "rollout_tokens": 565,
                "rollout_sequences": 8,
            },
        },
        "53 new tokens after prompts of at most 512",
    )
    yield Published(
        "trl-qwen72b-grpo-32gpu",
        "TRL, docs: 4 nodes that train and one that serves",
        True,
        {
            "preset": "trl-0.19",
            "algorithm": "GRPO-No-KL",
            "models": {"policy": "Qwen2.5-72B"},
            "accelerator": "H100-SXM5-80GB",
            "layout": {"data": 32},
            "layouts": {"generator": {"tensor": 8}},
            "places": {"generator": {"process": "generator", "pool": "servers"}},
            "components": {
                "engine": "zero-3",
                "recompute": "full",
                "rollout": "vllm-awake",
                "weight_sync": "one-by-one",
            },
            "batch": {
                "micro_batch": 4,
                "sequence_tokens": 768,
                "prompt_tokens": 512,
                "rollout_tokens": 768,
                "rollout_sequences": 32,
            },
        },
        "256 new tokens after prompts of at most 512",
    )
