"""PPO as TRL runs it: one module holds policy and value model, one optimizer steps both."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Activity, Algorithm, Given, hookimpl
from alignsim.algorithm import TRAIN
from alignsim_plugins.losses.slot import JOINT, JOINT_VALUES, TOKENS, VALUES

SOURCE = "TRL 0.19: ppo_trainer.py; the wrapper runs the value model first, so backward comes to it last"
TRAIN_JOINTLY = Activity("train_jointly", (*TRAIN.moments, "statistics"), like="train")
FORWARD = ("forward_layers", "forward_head")
BACKWARD = ("backward_loss", "backward_head", "backward_last_layer", "backward_first_layer", "backward_end")

TRL_PPO = Algorithm(
    name="TRL-PPO",
    phases={
        "rollout": {"policy": "generate"},
        "score": {"policy": "infer", "reference": "infer", "reward": "infer", "critic": "infer"},
        "update": {"policy": TRAIN_JOINTLY, "critic": "train"},
    },
    order={
        "update": (
            *(f"critic.{moment}" for moment in FORWARD),
            *(f"policy.{moment}" for moment in FORWARD),
            "critic.loss",
            "policy.loss",
            *(f"policy.{moment}" for moment in BACKWARD),
            *(f"critic.{moment}" for moment in BACKWARD),
            "policy.optimizer_step",
            "critic.optimizer_step",
            "policy.statistics",
        )
    },
    model_of={"reference": "policy", "reward": "critic"},
    scalar_heads=("critic", "reward"),
    numbers={
        "rows_per_sample": Given(1.0, source="one row a sample"),
        "policy.input_bytes": Given(8.0, "byte/token", source="token ids in 64 bits"),
        "critic.input_bytes": Given(0.0, "byte/token", source="the policy's"),
        "policy.output_scores": Given(2.0, source="TRL 0.19: batch_generation, scores and their padded copy"),
        "policy.scores_stay": Given(1.0, source="TRL 0.19: ppo_trainer.py, logitss is never deleted"),
    },
    needs={
        "policy.loss": JOINT,
        "reference.loss": (JOINT, TOKENS),
        "reward.loss": VALUES,
        "critic.loss": JOINT_VALUES,
    },
    source=SOURCE,
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer PPO as TRL runs it."""
    yield TRL_PPO
