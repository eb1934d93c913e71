"""PPO-style RLHF: four models, three phases."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Algorithm, hookimpl

PPO = Algorithm(
    name="PPO",
    phases={
        "rollout": {"policy": "generate", "reference": "idle", "reward": "idle", "critic": "idle"},
        "score": {"policy": "infer", "reference": "infer", "reward": "infer", "critic": "infer"},
        "update": {"policy": "train", "critic": "train"},
    },
    model_of={"reference": "policy", "reward": "critic"},
    source="Ouyang et al. 2022 (InstructGPT), section 3.5 and appendix C",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer PPO."""
    yield PPO
