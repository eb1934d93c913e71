"""What OpenRLHF chooses in either of its generations of flags: a process a model under DeepSpeed, and vLLM."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from alignsim import Choice
from alignsim_plugins.presets.serving import VLLM

SAMPLING = ("PPO", "PPO-Reward-Elsewhere", "GRPO", "GRPO-No-KL", "RLOO", "REINFORCE++", "DAPO")
REWARDED = ("PPO", "REINFORCE++")
PAIRS = ("DPO", "IPO", "cDPO")
STAGES = ("zero", "zero-1", "zero-2", "zero-3", "zero-3-sleeping")
UNDIVIDED = ("zero-1", "zero-2")
DIVIDED = ("zero-3", "zero-3-sleeping")

LEFT_OUT = ("a process of each model, with a context and an allocator: models share one unless places say otherwise",)


def frozen(role: str, version: str, algorithms: tuple[str, ...] = ()) -> Iterable[Choice]:
    """Yield how a model is held that is not trained."""
    where = f"OpenRLHF {version}: utils/deepspeed/deepspeed.py, get_ds_eval_config"
    yield Choice(
        components={f"{role}.engine": "zero-replica"},
        algorithms=algorithms,
        where={"engine": UNDIVIDED},
        source=f"{where}: stage 0 unless training is of stage 3",
    )
    yield Choice(
        components={f"{role}.engine": "zero-inference"},
        algorithms=algorithms,
        where={"engine": DIVIDED},
        source=f"{where}: stage 3 where training is",
    )


def of(
    version: str, flags: Mapping[str, str], sampled: Mapping[str, int], answers: tuple[str, ...]
) -> tuple[Choice, ...]:
    """Return all defaults of a generation: ``flags`` are what it calls them, ``sampled`` the sizes where it samples.

    ``answers`` are the algorithms that learn from given answers beside DPO's family.
    """
    cli = f"OpenRLHF {version}: cli"
    trainers = ", ".join(f"train_{name.lower()}.py" for name in ("SFT", *answers))
    ray = f"{cli}/train_ppo_ray.py"
    scalar = f"OpenRLHF {version}: models/model.py, get_llm_for_sequence_regression"
    return (
        Choice(
            components={"engine": "zero-2", "layers": "transformers", "adapter": "full", "recompute": "none"},
            source=f"{ray}, {flags['stage']} 2, {flags['rank']} 0, {flags['recompute']} off unless asked for",
        ),
        Choice(
            components={"precision": "bf16-master"}, source=f"{ray}, {flags['format']}; DeepSpeed keeps 32 bits too"
        ),
        Choice(
            components={"optimizer": "adamw-fused"},
            source=f"OpenRLHF {version}: utils/deepspeed/deepspeed.py: DeepSpeed's FusedAdam unless Adam is offloaded",
        ),
        Choice(
            components={"attention": "flash", "packing": "padded"},
            source=f"{ray}, {flags['attention']} flash_attention_2, {flags['packing']} off unless asked for",
        ),
        Choice(
            components={"loss": "openrlhf-3c3be62"},
            batch={"micro_batch": 8, "sequence_tokens": 2048},
            algorithms=("SFT", *answers),
            source=f"{cli}: {trainers}, {flags['micro']} 8, {flags['length']} 2048; models/actor.py, logits in 32 bits",
        ),
        Choice(
            components={"loss": "openrlhf-3c3be62"},
            batch={"micro_batch": 8, "sequence_tokens": 512},
            algorithms=PAIRS,
            source=f"{cli}/train_dpo.py, {flags['micro']} 8, {flags['length']} 512; models/actor.py, logits in 32 bits",
        ),
        Choice(
            components={"loss": "score"},
            batch={"micro_batch": 1, "sequence_tokens": 512},
            algorithms="RM",
            source=f"{cli}/train_rm.py, {flags['micro']} 1, {flags['length']} 512; {scalar}",
        ),
        Choice(
            components={"loss": "openrlhf-3c3be62"},
            batch=sampled,
            algorithms=SAMPLING,
            source=f"{ray}, {flags['sizes']}; models/actor.py, logits in 32 bits, no entropy",
        ),
        Choice(components={"critic.loss": "score"}, algorithms=("PPO", "PPO-Reward-Elsewhere"), source=scalar),
        Choice(components={"reward.loss": "score"}, algorithms=REWARDED, source=scalar),
        *frozen("reference", version),
        *frozen("reward", version, REWARDED),
        Choice(
            components={"rollout": "vllm-awake", "weight_sync": "one-by-one-copied"},
            algorithms=SAMPLING,
            source=f"{ray}, {flags['sleep']} off unless asked for; a gathered parameter is cloned to be handed over",
        ),
        Choice(
            givens={"generator.gpu_memory_utilization": 0.95},
            where={"rollout": VLLM},
            source=f"{ray}, {flags['memory']} 0.95",
        ),
    )


def asks(flags: Mapping[str, str]) -> tuple[str, ...]:
    """Return what has to be said in a generation."""
    return (
        f"places: which models share devices ({flags['places']}); all do here unless places say otherwise, and vLLM, "
        "awake with 0.95 of a device, needs its own or has to sleep",
        f"rollout: vllm-offloading where {flags['sleep']} is given: it sleeps at level 1",
        "engine: zero-2 unless said; zero-3-sleeping where DeepSpeed's states sleep as well",
        "rollout_sequences: rollout batch x samples a prompt, over the engines",
    )
