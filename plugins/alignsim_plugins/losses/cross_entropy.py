"""Cross-entropy as transformers computes it: all logits in 32 bits, inside the model's forward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, at, hookimpl, maths, span
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.elements import BF16, FP32, TRACES
from alignsim_plugins.losses.head import DEFAULTS, HEAD, head_tokens
from alignsim_plugins.losses.slot import CROSS_ENTROPY as MEAN
from alignsim_plugins.losses.slot import LOSS, VOCABULARY

SOURCE = "transformers 5.24: loss/loss_utils.py, ForCausalLMLoss"


@trained(live=at("loss"))
def logits_at_loss(tokens: Any, vocab: Any, compute_bytes: Any, fp32: Any = FP32, half: Any = BF16) -> Any:
    """The logits, their copy in 32 bits where they are narrower, and their log-softmax."""
    return tokens * vocab * (2 * fp32 + maths.where(compute_bytes > half, 0, compute_bytes))


@trained(live=span("loss", "backward_loss", without=("loss", "backward_loss")))
def logits_held(tokens: Any, vocab: Any, fp32: Any = FP32) -> Any:
    """The log-softmax, which backward reads."""
    return tokens * vocab * fp32


@trained(live=at("backward_loss"))
def logits_in_backward(tokens: Any, vocab: Any, fp32: Any = FP32) -> Any:
    """The log-softmax, its gradient and the logits' gradient in 32 bits."""
    return 3 * tokens * vocab * fp32


CROSS_ENTROPY = Component(
    name="cross-entropy",
    slot=LOSS,
    terms=(*HEAD, head_tokens, logits_at_loss, logits_held, logits_in_backward),
    defaults={**DEFAULTS, "inside_forward": Const(1, source=SOURCE)},
    limits=VOCABULARY,
    kinds={MEAN},
    source=f"{SOURCE}; {TRACES}",
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer cross-entropy over all logits."""
    yield CROSS_ENTROPY
