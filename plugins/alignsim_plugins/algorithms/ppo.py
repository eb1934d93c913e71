"""PPO-style RLHF: four models, three phases."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Algorithm, Given, hookimpl
from alignsim_plugins.losses.slot import TOKENS, VALUES

PPO = Algorithm(
    name="PPO",
    phases={
        "rollout": {"policy": "generate", "reference": "idle", "reward": "idle", "critic": "idle"},
        "score": {"policy": "infer", "reference": "infer", "reward": "infer", "critic": "infer"},
        "update": {"policy": "train", "critic": "train"},
    },
    model_of={"reference": "policy", "reward": "critic"},
    scalar_heads=("critic", "reward"),
    numbers={
        "rows_per_sample": Given(1.0, source="one row a sample"),
        "input_bytes": Given(8.0, "byte/token", source="token ids in 64 bits"),
    },
    needs={"policy.loss": TOKENS, "reference.loss": TOKENS, "reward.loss": VALUES, "critic.loss": VALUES},
    source="Ouyang et al. 2022 (InstructGPT), section 3.5 and appendix C",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer PPO."""
    yield PPO
