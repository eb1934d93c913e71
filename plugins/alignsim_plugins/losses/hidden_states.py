"""The hidden states of all layers, where a model is asked to return them: terms that loss paths share."""

from __future__ import annotations

from typing import Any

from alignsim import at, maths, term
from alignsim_plugins.activations.instants import inferred
from alignsim_plugins.elements import FP32, TRACES

SOURCE = f"transformers 5.24: output_hidden_states, the embedding's output and every layer's; {TRACES}"


@term("byte", per={"role"}, source=SOURCE)
def hidden_states(residual_bytes: Any, hidden: Any, layers: Any, tokens: Any) -> Any:
    """The embedding's output and every layer's; the last is normalised."""
    return residual_bytes * hidden * (layers + 1) * tokens


@term("byte", per={"role"}, source="accelerate 1.15: utils/operations.py, convert_outputs_to_fp32")
def converted_hidden_states(
    autocast: Any, residual_bytes: Any, hidden: Any, layers: Any, tokens: Any, fp32: Any = FP32
) -> Any:
    """Their copies in 32 bits, which autocast's outputs are converted to."""
    return autocast * (residual_bytes < fp32) * fp32 * hidden * (layers + 1) * tokens


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def unsaved_hidden_states(
    recomputes: Any,
    casts_weights: Any,
    frozen_head: Any,
    residual_bytes: Any,
    hidden: Any,
    layers: Any,
    reached_layers: Any,
    tokens: Any,
    head_tokens: Any,
    fp32: Any = FP32,
) -> Any:
    """Those that nothing else holds: 32-bit ones are inputs of norms, recomputation keeps all, the head its input."""
    return maths.where(
        recomputes + (residual_bytes >= fp32) > 0,
        residual_bytes * hidden * (layers - reached_layers) * tokens,
        residual_bytes * hidden * layers * tokens,
    ) + maths.where(casts_weights + frozen_head + (head_tokens < tokens) > 0, residual_bytes * hidden * tokens, 0)


@inferred(live=at("forward_layers"))
def inferred_hidden_states_of_layers(residual_bytes: Any, hidden: Any, layers: Any, tokens: Any) -> Any:
    """Those of a forward at its last layer, beside the embedding's output and that layer's input."""
    return residual_bytes * hidden * (layers - 2) * tokens


@inferred(live=at("forward_head"))
def inferred_hidden_states(residual_bytes: Any, hidden: Any, layers: Any, tokens: Any) -> Any:
    """All of them but the last, which is the head's input."""
    return residual_bytes * hidden * layers * tokens


HIDDEN_STATES = (
    hidden_states,
    converted_hidden_states,
    unsaved_hidden_states,
    inferred_hidden_states_of_layers,
    inferred_hidden_states,
)
