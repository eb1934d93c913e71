"""PPO as TRL computes it: policy and value model forward as one, with all logits and hidden states returned.

The training loop's variables keep logits and hidden states through the step and the statistics after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Of, at, hookimpl, maths, span
from alignsim_plugins.activations.instants import inferred, trained
from alignsim_plugins.elements import TRACES
from alignsim_plugins.losses.head import DEFAULTS, HEAD, head_tokens, norm_output
from alignsim_plugins.losses.hidden_states import HIDDEN_STATES
from alignsim_plugins.losses.logits import FORMATS, completion_tokens, narrow_logits
from alignsim_plugins.losses.slot import JOINT, LOSS, VOCABULARY

SOURCE = f"TRL 0.19: ppo_trainer.py, train and PolicyAndValueWrapper; {TRACES}"


@trained(live=at("loss"))
def logits_at_loss(
    tokens: Any,
    rows: Any,
    completion_tokens: Any,
    vocab: Any,
    logit_bytes: Any,
    conversion_bytes: Any,
    narrow_logits: Any,
) -> Any:
    """The logits while they are converted; then with log-softmaxes of 16-bit completions, or with one row's log-sum."""
    return vocab * maths.maximum(
        conversion_bytes * tokens,
        logit_bytes * (tokens + maths.where(narrow_logits > 0, completion_tokens, completion_tokens / rows)),
    )


@trained(live=at("backward_loss"))
def logits_in_backward(tokens: Any, completion_tokens: Any, vocab: Any, logit_bytes: Any) -> Any:
    """The logits, two gradients of them, and two copies of the completions'."""
    return vocab * logit_bytes * (3 * tokens + 2 * completion_tokens)


@trained(live=span("backward_head", "statistics"))
def kept_logits(tokens: Any, vocab: Any, logit_bytes: Any) -> Any:
    """The logits, which a variable of the training loop holds on to."""
    return tokens * vocab * logit_bytes


@trained(live=at("statistics"))
def logits_in_statistics(completion_tokens: Any, vocab: Any, logit_bytes: Any) -> Any:
    """The completions' probabilities, and their product with the logits: an entropy."""
    return 2 * completion_tokens * vocab * logit_bytes


@trained(live=span("forward_layers", "loss"))
def held_hidden_states(unsaved_hidden_states: Any) -> Any:
    """Those that nothing else holds."""
    return unsaved_hidden_states


@trained(live=at("loss"))
def held_converted_hidden_states(
    converted_hidden_states: Any, value_norm_output: Any = Of("critic.norm_output")
) -> Any:
    """Their copies in 32 bits; and the value model's last one, where its head took a cast of that."""
    return converted_hidden_states + value_norm_output


@trained(live=span("backward_loss", "backward_last_layer"))
def hidden_states_in_backward(converted_hidden_states: Any, unsaved_hidden_states: Any) -> Any:
    """The training loop holds on to them: their copies, else those that nothing else holds."""
    return maths.where(converted_hidden_states > 0, converted_hidden_states, unsaved_hidden_states)


@trained(live=span("backward_first_layer", "statistics"))
def kept_hidden_states(converted_hidden_states: Any, hidden_states: Any) -> Any:
    """The same when backward is done with its part: all of them."""
    return maths.where(converted_hidden_states > 0, converted_hidden_states, hidden_states)


@trained(live=span("optimizer_step", "statistics", without=("optimizer_step", "statistics")))
def joint_step(trainable_parameters: Any, moment_bytes: Any, step_memory: Any) -> Any:
    """One optimizer steps the value model with the policy: what it holds for the policy is still there."""
    return trainable_parameters * moment_bytes + step_memory


@inferred(live=at("loss"))
def inferred_logits_at_loss(
    tokens: Any,
    rows: Any,
    completion_tokens: Any,
    vocab: Any,
    logit_bytes: Any,
    conversion_bytes: Any,
    narrow_logits: Any,
) -> Any:
    """The logits while they are converted; then with two rows' log-softmaxes at once, or with one row's log-sum."""
    return vocab * maths.maximum(
        conversion_bytes * tokens, logit_bytes * (tokens + (1 + narrow_logits) * completion_tokens / rows)
    )


@inferred(live=at("loss"))
def inferred_hidden_states_at_loss(autocast: Any, hidden_states: Any, converted_hidden_states: Any) -> Any:
    """All of them while they are converted."""
    return autocast * (hidden_states + converted_hidden_states)


TRL_PPO = Component(
    name="trl-ppo",
    slot=LOSS,
    terms=(
        *(t for t in HEAD if t is not norm_output),
        *FORMATS,
        *HIDDEN_STATES,
        narrow_logits,
        head_tokens,
        completion_tokens,
        logits_at_loss,
        logits_in_backward,
        kept_logits,
        logits_in_statistics,
        held_hidden_states,
        held_converted_hidden_states,
        hidden_states_in_backward,
        kept_hidden_states,
        joint_step,
        inferred_logits_at_loss,
        inferred_hidden_states_at_loss,
    ),
    defaults={
        **DEFAULTS,
        "inside_forward": Const(0, source=SOURCE),
        "norm_output": Const(0, "byte", source="it is the last of the hidden states"),
    },
    limits=VOCABULARY,
    kinds={JOINT},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer TRL's joint forward of policy and value model."""
    yield TRL_PPO
