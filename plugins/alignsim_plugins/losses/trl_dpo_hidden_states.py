"""TRL's DPO with the hidden states of all layers returned, as its 0.19 asked for, whether it needed them or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, at, hookimpl, span
from alignsim_plugins.activations.instants import inferred, trained
from alignsim_plugins.elements import TRACES
from alignsim_plugins.losses.head import norm_output
from alignsim_plugins.losses.hidden_states import HIDDEN_STATES
from alignsim_plugins.losses.slot import LOSS, PAIRS, VOCABULARY
from alignsim_plugins.losses.trl_dpo import OUTSIDE, TRL_DPO_TERMS

SOURCE = f"TRL 0.19: dpo_trainer.py, output_hidden_states=True; {TRACES}"


@trained(live=span("forward_layers", "loss"))
def held_hidden_states(unsaved_hidden_states: Any) -> Any:
    """Those that nothing else holds, until the outputs are dropped."""
    return unsaved_hidden_states


@trained(live=at("loss"))
def held_converted_hidden_states(converted_hidden_states: Any) -> Any:
    """Their copies in 32 bits."""
    return converted_hidden_states


@inferred(live=at("loss"))
def inferred_hidden_states_at_loss(hidden_states: Any, converted_hidden_states: Any) -> Any:
    """All of them, and their copies in 32 bits."""
    return hidden_states + converted_hidden_states


TRL_DPO_HIDDEN_STATES = Component(
    name="trl-dpo-hidden-states",
    slot=LOSS,
    terms=(
        *(t for t in TRL_DPO_TERMS if t is not norm_output),
        *HIDDEN_STATES,
        held_hidden_states,
        held_converted_hidden_states,
        inferred_hidden_states_at_loss,
    ),
    defaults={**OUTSIDE, "norm_output": Const(0, "byte", source="it is the last of the hidden states")},
    limits=VOCABULARY,
    kinds={PAIRS},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer TRL's whole logits with hidden states."""
    yield TRL_DPO_HIDDEN_STATES
