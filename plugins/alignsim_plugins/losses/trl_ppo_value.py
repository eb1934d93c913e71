"""The value model of TRL's PPO: a scalar head; its hidden states are returned and held until the policy's forward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, span
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.losses.hidden_states import unsaved_hidden_states
from alignsim_plugins.losses.score import SCORE_DEFAULTS, SCORE_TERMS
from alignsim_plugins.losses.slot import JOINT_VALUES, LOSS
from alignsim_plugins.losses.trl_ppo import SOURCE


@trained(live=span("forward_head", "loss", without=("forward_head", "loss")))
def held_hidden_states(unsaved_hidden_states: Any) -> Any:
    """Those that nothing else holds, while the policy runs forward."""
    return unsaved_hidden_states


TRL_PPO_VALUE = Component(
    name="trl-ppo-value",
    slot=LOSS,
    terms=(*SCORE_TERMS, unsaved_hidden_states, held_hidden_states),
    defaults=SCORE_DEFAULTS,
    kinds={JOINT_VALUES},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer the value model of TRL's PPO."""
    yield TRL_PPO_VALUE
