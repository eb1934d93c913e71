"""Short forms for the order of events in a phase, and for tables that differ little from another's."""

from __future__ import annotations

from typing import Any

import attrs

from alignsim import Algorithm
from alignsim.algorithm import INFER, TRAIN

FORWARD = ("forward_layers", "forward_head", "loss")


def forward(role: str) -> tuple[str, ...]:
    """Return the events of a forward, loss included.

    >>> forward("policy")
    ('policy.forward_layers', 'policy.forward_head', 'policy.loss')
    """
    return tuple(f"{role}.{moment}" for moment in FORWARD)


def backward(role: str) -> tuple[str, ...]:
    """Return what follows a forward in training: backward and the optimizer's step."""
    return tuple(f"{role}.{moment}" for moment in TRAIN.moments if moment not in FORWARD)


def infer(role: str) -> tuple[str, ...]:
    """Return the events of a forward without gradients."""
    return tuple(f"{role}.{moment}" for moment in INFER.moments)


def without(algorithm: Algorithm, *roles: str, **changes: Any) -> Algorithm:
    """Return the table without some roles, and with other fields changed."""
    return attrs.evolve(
        algorithm,
        **{
            "phases": {
                phase: {role: activity for role, activity in row.items() if role not in roles}
                for phase, row in algorithm.phases.items()
            },
            "order": {
                phase: tuple(event for event in events if event.partition(".")[0] not in roles)
                for phase, events in algorithm.order.items()
            },
            "scalar_heads": tuple(role for role in algorithm.scalar_heads if role not in roles),
            "model_of": {
                role: model for role, model in algorithm.model_of.items() if role not in roles and model not in roles
            },
            "needs": {place: kinds for place, kinds in algorithm.needs.items() if place.partition(".")[0] not in roles},
            **changes,
        },
    )
