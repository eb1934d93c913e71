"""Public reports of memory as runs: what each states, in our words, and what it leaves open with what is assumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import attrs

from alignsim import Scenario, default_registry
from alignsim.runfile import scenario_of

Said = Literal["runs", "fails", "measured"]

CAUSES: Mapping[str, str] = {
    "agilerl-qwen2.5-0.5b-a100-s4096-mb8-g16-r64-nf4": (
        "0.02 GiB above the range; unknown. With weights that are not quantised in 32 bits, as PEFT's preparation "
        "has them, it would be inside; whether AgileRL prepares them is not stated"
    ),
    "openrlhf-384": "unknown. Ruled out: eager attention, 1 GiB. Without recomputation it would fail",
    "trl-nb-grpo-qlora-7b-t4": (
        "prompts are not stated: 0.1 GiB above the range with 128 tokens, inside it with 256. 6.77 GiB before training "
        "are 1.6 GiB more than the weights: unknown"
    ),
    "trl-3218": (
        "unknown; where it failed is not stated, and loading is not predicted. Eager attention, or weights on the "
        "device, would fail"
    ),
    "trl-3456-1.7b": (
        "precision, reference and real lengths are not stated: 16-bit weights give less, no reference or 2,560 tokens "
        "give a range that it is inside of; which is unknown"
    ),
    "lf-5977-z3off": (
        "unknown; what kind of figure it is, is not stated. Ruled out: eager attention, 0.2 GiB, and weights on the "
        "device, 2 GiB. Without recomputation it would be inside"
    ),
}
"""Why a figure or a verdict disagrees with what is said."""

LEFT_OUT: Mapping[str, str] = {
    "agilerl-olmoe-1b-7b, two rows": "adapters of attention alone in a mixture of experts: not described yet",
    "agilerl-gemma-4-e2b, two rows": "the model is not in the catalogue",
    "openrlhf-readme-ppo-34b-8x80": "the model is not in the catalogue",
    "openrlhf-392": "which model of 16 billion parameters is not stated",
    "openrlhf-171-host": "neither devices nor lengths are stated",
    "trl-5200": "neither the device, nor the batch, nor the kind of figure is stated",
    "trl-3678": "neither batch nor device is stated",
    "lf-544-lora": "the model is not in the catalogue",
    "lf-5273": "PPO of LLaMA-Factory has no preset: not described yet",
    "ColossalChat, 32 rows": "counted once, in its own table",
}
"""Reports that are not predicted here, each with the reason."""


@attrs.frozen
class Report:
    """What somebody saw.

    Attributes:
        key: how people find it again.
        source: who says so, where.
        said: whether it ran, or ran out of memory, or what was measured.
        data: the run, as plain data.
        assumed: what is not stated, and what is taken instead.
        measured: GiB, of what is measured.
        figure: the total that is measured, as results name it.
    """

    key: str
    source: str
    said: Said
    data: Mapping[str, Any]
    assumed: str = ""
    measured: float | None = None
    figure: str = "device"

    @property
    def scenario(self) -> Scenario:
        """The run."""
        return scenario_of({"name": self.key, **self.data}, default_registry(), self.key)


def reports() -> Iterator[Report]:
    """Yield all of them."""
    yield from _agilerl()
    yield from _openrlhf()
    yield from _trl()
    yield from _llama_factory()


def _agilerl() -> Iterator[Report]:
    """AgileRL's device peaks of an update, while vLLM sleeps in the trainer's process."""
    a100, l4 = "A100-SXM4-40GB", "L4-24GB"
    for model, device, tokens, micro, group, rank, quantised, share, gib in (
        ("Qwen2.5-0.5B", a100, 512, 1, 4, 8, False, 0.2, 2.67),
        ("Qwen2.5-0.5B", a100, 4096, 8, 16, 64, False, 0.2, 7.46),
        ("Qwen2.5-0.5B", a100, 512, 1, 4, 8, True, 0.2, 2.58),
        ("Qwen2.5-0.5B", a100, 4096, 8, 16, 64, True, 0.2, 9.2),
        ("Qwen2.5-1.5B", a100, 512, 1, 4, 8, False, 0.2, 4.91),
        ("Qwen2.5-1.5B", a100, 4096, 8, 16, 64, False, 0.308, 14.58),
        ("Qwen2.5-1.5B", l4, 512, 1, 4, 8, False, 0.45, 4.6),
        ("Qwen2.5-1.5B", l4, 4096, 8, 4, 64, False, 0.45, 9.47),
        ("SmolLM2-1.7B", l4, 512, 1, 4, 8, False, 0.45, 4.68),
        ("SmolLM2-1.7B", l4, 4096, 8, 16, 64, False, 0.45, 14.53),
        ("Qwen2.5-3B", a100, 512, 1, 4, 8, False, 0.223, 8.07),
        ("Qwen2.5-3B", a100, 4096, 1, 4, 8, False, 0.27, 9.21),
        ("Qwen2.5-3B", a100, 4096, 8, 16, 64, False, 0.434, 22.37),
        ("Qwen2.5-7B", a100, 512, 1, 4, 8, False, 0.55, 16.63),
        ("Qwen2.5-7B", a100, 512, 1, 4, 64, False, 0.55, 19.91),
        ("Qwen2.5-7B", a100, 4096, 1, 4, 8, False, 0.55, 18.53),
        ("Qwen2.5-7B", a100, 4096, 8, 4, 8, False, 0.55, 25.96),
    ):
        bits = "-nf4" if quantised else ""
        yield Report(
            f"agilerl-{model}-{device.split('-')[0]}-s{tokens}-mb{micro}-g{group}-r{rank}{bits}".lower(),
            "AgileRL 0151c660, tools/memory_profiling/fixtures",
            "measured",
            {
                "algorithm": "GRPO-No-KL",
                "models": {"policy": model},
                "accelerator": device,
                "places": {"generator": {"process": "trainer"}},
                "components": {
                    "engine": "single-device",
                    "layers": "transformers",
                    "precision": "autocast-bf16",
                    "optimizer": "adamw-foreach",
                    "adapter": "qlora" if quantised else "lora",
                    "recompute": "full",
                    "attention": "sdpa",
                    "packing": "padded",
                    "loss": "trl-fused",
                    "rollout": "vllm-offloading",
                    "weight_sync": "one-by-one",
                },
                "givens": {"lora_rank": rank, "generator.gpu_memory_utilization": share},
                "batch": {
                    "micro_batch": min(micro, group),
                    "sequence_tokens": tokens,
                    "prompt_tokens": tokens // 4,
                    "rollout_tokens": tokens,
                    "rollout_sequences": group,
                },
            },
            "TRL's chunked head for AgileRL's; 32-bit adapters, as PEFT makes them; a micro-batch is at most a group",
            gib,
            "update:device",
        )


def _ray(model: str, devices: Mapping[str, int], **more: Any) -> dict[str, Any]:
    """Return a run of OpenRLHF's whose models have devices of their own."""
    actor, *others = devices
    apart = {role: {"process": role, "pool": role} for role in others}
    return {
        "preset": "openrlhf",
        "models": {role: model for role in devices if role not in ("reference", "generator")},
        "layout": {"data": devices[actor]},
        "layouts": {role: {"tensor" if role == "generator" else "data": devices[role]} for role in others},
        "places": apart,
        **more,
    }


def _openrlhf() -> Iterator[Report]:
    separate = {"policy": 4, "critic": 2, "reward": 1, "reference": 1}
    for model, micro in (("Llama-2-7B", 8), ("Llama-2-13B", 4)):
        yield Report(
            f"openrlhf-readme-ppo-{model.split('-')[-1].lower()}-8x80",
            "OpenRLHF b0604ce5, README: throughput of PPO",
            "runs",
            _ray(
                model,
                separate,
                algorithm="PPO",
                accelerator="A100-SXM4-80GB",
                components={"engine": "zero-2", "recompute": "full", "rollout": "transformers-cache"},
                givens={"policy.offload_optimizer": 1, "critic.offload_optimizer": 1},
                batch={"micro_batch": micro, "rollout_sequences": 2 * micro},
            ),
            "gradients in 16 bits; every answer is of the greatest length",
        )
    together = {"engine": "zero-2", "recompute": "full", "rollout": "transformers-cache"}
    for key, model, devices, micro, rollout, offloaded in (
        ("openrlhf-519", "Llama-3-8B", (8, "H100-SXM5-80GB"), 2, 4, 1),
        ("openrlhf-277", "Llama-2-13B", (4, "A800-SXM4-80GB"), 1, 4, 0),
    ):
        yield Report(
            key,
            f"OpenRLHF issue {key[9:]}",
            "fails",
            {
                "preset": "openrlhf",
                "algorithm": "PPO",
                "models": dict.fromkeys(("policy", "critic", "reward"), model),
                "accelerator": devices[1],
                "layout": {"data": devices[0]},
                "components": together,
                "givens": {"policy.offload_optimizer": offloaded, "critic.offload_optimizer": offloaded},
                "batch": {"micro_batch": micro, "rollout_sequences": rollout},
            },
            "neither reward nor reference is on the host"
            + ("; Llama-2-13B for CodeLlama-13B, of the same widths" if offloaded == 0 else ""),
        )
    for key, said, model, devices, device, engine, micro, prompt, answer, assumed in (
        ("851-zero2", "fails", "Llama-3-70B", (16, 16, 8), "H100-SXM5-80GB", "zero-2", 1, 1024, 1024,
         "Llama-3-70B, 16 devices for the policy, a batch of 1: none of them decides it"),
        ("887", "fails", "Qwen2.5-7B", (3, 18, 1), "H100-SXM5-80GB", "zero-3", 1, 1024, 36864,
         "Qwen2.5-7B; weights are recomputed"),
        ("908-mb1", "runs", "Qwen2.5-7B", (8, 4, 4), "H20-96GB", "zero-3", 1, 13024, 13024, "lengths as configured"),
        ("908-mb2", "fails", "Qwen2.5-7B", (8, 4, 4), "H20-96GB", "zero-3", 2, 13024, 13024, "lengths as configured"),
        ("901", "fails", "Qwen2.5-7B", (2, 2, 1), "RTX-6000-Ada-48GB", "zero-2", 2, 1024, 1024,
         "answers of 1,024 tokens; the optimizer is on the device; one device for vLLM"),
    ):  # fmt: skip
        yield Report(
            f"openrlhf-{key}",
            f"OpenRLHF issue {key[:3]}",
            said,
            _ray(
                model,
                dict(zip(("policy", "reference", "generator"), devices, strict=True)),
                algorithm="GRPO",
                accelerator=device,
                components={"engine": engine, "recompute": "full"},
                batch={
                    "micro_batch": micro,
                    "prompt_tokens": prompt,
                    "sequence_tokens": prompt + answer,
                    "rollout_tokens": prompt + answer,
                    "rollout_sequences": 64,
                },
            ),
            assumed,
        )
    yield Report(
        "openrlhf-698",
        "OpenRLHF issue 698",
        "fails",
        {
            "preset": "openrlhf",
            "algorithm": "SFT",
            "models": {"policy": "Llama-3-8B"},
            "accelerator": "A100-SXM4-80GB",
            "components": {"engine": "zero-2", "recompute": "full"},
            "batch": {"micro_batch": 1, "sequence_tokens": 128},
        },
        "gradients in 16 bits",
    )
    yield Report(
        "openrlhf-384",
        "OpenRLHF issue 384",
        "fails",
        {
            "preset": "openrlhf",
            "algorithm": "DPO",
            "models": {"policy": "GLM-4-9B-0414"},
            "accelerator": "A100-SXM4-80GB",
            "layout": {"data": 8},
            "components": {"engine": "zero-3", "recompute": "full", "attention": "eager"},
            "batch": {"micro_batch": 1, "sequence_tokens": 2048},
        },
        "GLM-4-9B of 0414, of the same widths, for GLM-4-9B-chat; eager attention",
    )


def _trl() -> Iterator[Report]:
    handbook = {
        "preset": "trl-0.19",
        "algorithm": "DPO",
        "models": {"policy": "Mistral-7B-v0.1"},
        "layout": {"data": 8},
        "batch": {"micro_batch": 8, "sequence_tokens": 1024, "prompt_tokens": 512},
    }
    sharded = {"engine": "zero-3", "recompute": "full"}
    yield Report(
        "notus-dpo-7b-8xa100-40",
        "argilla-io/notus 5cd49123, v1/LOGBOOK",
        "runs",
        {
            **handbook,
            "accelerator": "A100-SXM4-40GB",
            "components": {**sharded, "attention": "flash", "loss": "naive-fp32"},
            "givens": {"policy.offload_optimizer": 1, "policy.offload_param": 1},
        },
        "AdamW, on the host, for RMSprop",
    )
    yield Report(
        "handbook-dpo-7b-8xa100-80",
        "argilla-io/notus 5cd49123, v1/fine-tune/configs/dpo/full",
        "runs",
        {
            **handbook,
            "accelerator": "A100-SXM4-80GB",
            "components": {**sharded, "attention": "eager", "loss": "naive-fp32"},
        },
        "AdamW for RMSprop, which has one moment less",
    )
    yield Report(
        "trl-nb-grpo-qlora-7b-t4",
        "TRL, examples/notebooks/grpo_trl_lora_qlora",
        "measured",
        {
            "preset": "trl-1",
            "algorithm": "GRPO-No-KL",
            "models": {"policy": "Qwen2-7B"},
            "accelerator": "T4-16GB",
            "components": {
                "engine": "single-device",
                "precision": "autocast-bf16",
                "adapter": "qlora",
                "optimizer": "paged-adamw-8bit",
                "loss": "liger-0.6.4-grpo",
            },
            "givens": {"lora_rank": 32, "double_quantised": 1},
            "batch": {
                "micro_batch": 8,
                "prompt_tokens": 128,
                "sequence_tokens": 384,
                "rollout_tokens": 384,
                "rollout_sequences": 8,
            },
        },
        "prompts of 128 tokens; bf16 for fp16, of the same width",
        8.832,
        "reserved",
    )
    yield Report(
        "trl-3168",
        "TRL issue 3168",
        "fails",
        {
            "preset": "trl-0.19",
            "algorithm": "DPO",
            "models": {"policy": "Qwen2.5-0.5B"},
            "accelerator": "A100-SXM4-80GB",
            "components": {"engine": "single-device", "precision": "fp32", "recompute": "none"},
            "batch": {"micro_batch": 8, "sequence_tokens": 1024, "prompt_tokens": 512},
        },
        "every pair is of the greatest length",
    )
    yield Report(
        "trl-4585",
        "TRL issue 4585",
        "fails",
        {
            "preset": "trl-1",
            "algorithm": "GRPO-No-KL",
            "models": {"policy": "Qwen3-0.6B"},
            "accelerator": "A10G-24GB",
            "layout": {"data": 8},
            "layouts": {"generator": {"data": 8}},
            "places": {"generator": {"process": "trainer"}},
            "components": {"engine": "zero-3", "loss": "trl-grpo", "rollout": "vllm"},
            "batch": {
                "micro_batch": 1,
                "prompt_tokens": 512,
                "sequence_tokens": 20480,
                "rollout_tokens": 20480,
                "rollout_sequences": 32,
            },
        },
        "the loss of the time, trl-grpo; prompts of 512 tokens of the 20,480",
    )
    yield Report(
        "trl-2719",
        "TRL issue 2719",
        "fails",
        {
            "preset": "trl-0.19",
            "algorithm": "TRL-PPO",
            "models": dict.fromkeys(("policy", "critic", "reward"), "Qwen2.5-7B"),
            "accelerator": "A100-SXM4-80GB",
            "components": {"engine": "single-device", "precision": "fp32", "recompute": "none"},
            "batch": {
                "micro_batch": 1,
                "prompt_tokens": 512,
                "sequence_tokens": 565,
                "rollout_tokens": 565,
                "rollout_sequences": 1,
            },
        },
        "short prompts and answers: four copies of the weights do not fit by themselves",
    )
    yield Report(
        "trl-1024",
        "TRL issue 1024",
        "fails",
        {
            "preset": "trl-0.19",
            "algorithm": "DPO",
            "models": {"policy": "Mistral-7B-v0.1"},
            "accelerator": "H100-SXM5-80GB",
            "components": {"engine": "single-device", "precision": "fp32", "recompute": "full"},
            "batch": {"micro_batch": 4, "sequence_tokens": 4096, "prompt_tokens": 512},
        },
        "a batch of 4 pairs, recomputed",
    )
    yield Report(
        "trl-3218",
        "TRL issue 3218",
        "fails",
        {
            "preset": "trl-0.19",
            "algorithm": "RM",
            "models": {"reward": "Llama-3-70B"},
            "accelerator": "H20-96GB",
            "layout": {"data": 8},
            "components": {"engine": "fsdp1-cpu-offload", "recompute": "none", "optimizer": "sgd"},
            "batch": {"micro_batch": 1, "sequence_tokens": 1024},
        },
        "H20 for an H100 of 96 GB, whose memory is as large; pairs of the greatest length",
    )
    for model, said, gib in (
        ("Qwen3-0.6B", "measured", 48.12),
        ("Qwen3-1.7B", "measured", 76.32),
        ("Qwen3-4B", "fails", None),
    ):
        yield Report(
            f"trl-3456-{model[6:].lower()}",
            "TRL issue 3456",
            said,
            {
                "preset": "trl-0.19",
                "algorithm": "GRPO",
                "models": {"policy": model},
                "accelerator": "A100-SXM4-80GB",
                "components": {"engine": "single-device", "precision": "autocast-fp32", "recompute": "none"},
                "batch": {
                    "micro_batch": 4,
                    "prompt_tokens": 2048,
                    "sequence_tokens": 3072,
                    "rollout_tokens": 3072,
                    "rollout_sequences": 4,
                },
            },
            "weights in 32 bits under autocast, no recomputation; lengths as configured",
            gib,
        )


def _llama_factory() -> Iterator[Report]:
    yield Report(
        "lf-7938",
        "LLaMA-Factory issue 7938",
        "fails",
        {
            "preset": "llama-factory",
            "algorithm": "DPO",
            "models": {"policy": "Qwen2.5-7B"},
            "accelerator": "A100-SXM4-80GB",
            "layout": {"data": 64},
            "components": {"engine": "zero-3", "attention": "flash"},
            "givens": {"lora_rank": 32, "policy.offload_optimizer": 1, "policy.offload_param": 1},
            "batch": {"micro_batch": 1, "sequence_tokens": 32768, "prompt_tokens": 16384},
        },
        "pairs of the greatest length; the loss of its preset, as logits are asked for; checkpoints on the device",
    )
    for key, said, offloaded, gib in (("z3", "fails", 0, None), ("z3off", "measured", 1, 13.0)):
        yield Report(
            f"lf-5977-{key}",
            "LLaMA-Factory issue 5977",
            said,
            {
                "preset": "llama-factory",
                "algorithm": "SFT",
                "models": {"policy": "Llama-3-8B"},
                "accelerator": "RTX-3090-24GB",
                "layout": {"data": 8},
                "components": {"engine": "zero-3", "adapter": "full", "precision": "bf16-master"},
                "givens": {"policy.offload_optimizer": offloaded, "policy.offload_param": offloaded},
                "batch": {"micro_batch": 1, "sequence_tokens": 1024},
            },
            "bf16 for fp16, of the same width; answers of the greatest length",
            gib,
        )
