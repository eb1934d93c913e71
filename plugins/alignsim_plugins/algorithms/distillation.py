"""Distillation: a student learns all of a teacher's probabilities, of given answers or of its own."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from alignsim import Algorithm, Given, hookimpl
from alignsim_plugins.algorithms.events import backward, infer
from alignsim_plugins.losses.slot import TEACHER, WORDS

TRL = "TRL: gkd_trainer.py, compute_loss"

GKD = Algorithm(
    name="GKD",
    phases={"rollout": {"policy": "generate"}, "update": {"policy": "train", "teacher": "infer"}},
    order={
        "update": (
            "policy.forward_layers",
            "policy.forward_head",
            *(event for event in infer("teacher") if event != "teacher.loss"),
            "policy.loss",
            "teacher.loss",
            *backward("policy"),
        )
    },
    numbers={
        "rows_per_sample": Given(1.0, source="one row a sample"),
        "input_bytes": Given(24.0, "byte/token", source="token ids, labels and mask in 64 bits"),
    },
    needs={"policy.loss": WORDS, "teacher.loss": TEACHER},
    source=f"Agarwal et al. 2024 (GKD), algorithm 1; {TRL}: the teacher runs on top of the student's activations, and "
    "the loss reads all logits of both; the teacher's loss is the instant at which its logits are dropped",
)
DISTILLATION = attrs.evolve(
    GKD,
    name="Distillation",
    phases={"update": GKD.phases["update"]},
    source=f"Hinton et al. 2015; {TRL} with lmbda=0: GKD's update, of given answers",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer distillation on given and on the student's own answers."""
    yield GKD
    yield DISTILLATION
