"""The head of a language model that gives whole logits: terms that loss paths share."""

from __future__ import annotations

from typing import Any

from alignsim import Const, at, maths, span, term
from alignsim.limits import SWITCH
from alignsim_plugins.activations.instants import inferred, trained
from alignsim_plugins.elements import TRACES

FROZEN = Const(0, source="a role without adapters trains all its parameters, if any", limit=SWITCH)
SOURCE = f"logits = head x hidden; {TRACES}"


@term("token", per={"role"}, source=SOURCE)
def head_tokens(tokens: Any) -> Any:
    """Every token gets logits."""
    return tokens


@term("parameter", per={"role"}, source=SOURCE)
def head_matrix(embedding_matrix: Any) -> Any:
    """One row a word, as the embedding has."""
    return embedding_matrix


@term("byte", per={"role"}, source=SOURCE)
def head_logits(head_tokens: Any, vocab: Any, compute_bytes: Any) -> Any:
    """The logits as the head gives them."""
    return head_tokens * vocab * compute_bytes


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def head_input_saved(frozen_head: Any, compute_bytes: Any, hidden: Any, head_tokens: Any) -> Any:
    """The head's input, which its weight's gradient needs; nobody keeps it for a frozen head."""
    return maths.where(frozen_head > 0, 0, compute_bytes * hidden * head_tokens)


@term("byte", per={"role"}, source=SOURCE)
def norm_output(
    casts_weights: Any, head_tokens: Any, tokens: Any, residual_bytes: Any, hidden: Any, frozen_head: Any = FROZEN
) -> Any:
    """Another tensor than the head's input, if that is a cast, a selection of tokens, or kept by nobody."""
    return maths.where(casts_weights + frozen_head + (head_tokens < tokens) > 0, residual_bytes * hidden * tokens, 0)


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def head_gradient(frozen_head: Any, made_gradient_bytes: Any, head_matrix: Any) -> Any:
    """One for every parameter of the head, unless it is frozen."""
    return maths.where(frozen_head > 0, 0, made_gradient_bytes * head_matrix)


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def late_gradients(tied: Any, embedding_matrix: Any) -> Any:
    """The embedding's gradient; a tied head's is already there."""
    return maths.where(tied > 0, 0, embedding_matrix)


@term("", per={"role"}, during={"train"}, source=f"autograd adds a tied weight's two gradients; {TRACES}")
def tied_gradient_copies(tied: Any) -> Any:
    """The head's part and the embedding's part, beside their sum."""
    return 2 * tied


@trained(live=at("forward_head", "backward_head"))
def logits_at_head(head_logits: Any) -> Any:
    """The head's output in forward, its gradient in backward."""
    return head_logits


@trained(live=span("loss", "backward_loss"), source="transformers 5.24: Gemma2ForCausalLM; autograd keeps a tangent")
def capped_logits(caps_logits: Any, head_logits: Any) -> Any:
    """Logits within bounds, before they are scaled up: the tangent is kept for its backward."""
    return caps_logits * head_logits


@trained(live=at("backward_head"))
def head_input_gradient(
    reached_layers: Any, frozen_final_norm: Any, compute_bytes: Any, hidden: Any, head_tokens: Any
) -> Any:
    """The gradient of the head's input, unless nothing below the head is trained."""
    return maths.where((reached_layers > 0) + (frozen_final_norm <= 0) > 0, compute_bytes * hidden * head_tokens, 0)


@inferred(live=at("forward_head"))
def inferred_logits(head_logits: Any) -> Any:
    """The head's output, where no gradient is made."""
    return head_logits


@inferred(live=at("forward_head"))
def inferred_head_input(
    casts_weights: Any, residual_bytes: Any, compute_bytes: Any, hidden: Any, tokens: Any, head_tokens: Any
) -> Any:
    """The final norm's output, and its cast where autocast makes one."""
    return hidden * (residual_bytes * tokens + casts_weights * compute_bytes * head_tokens)


INPUT = (head_input_saved, norm_output, head_input_gradient, inferred_head_input)
"""Terms of any head that is a module of its own: what goes into it."""

HEAD = (
    *INPUT,
    head_matrix,
    head_logits,
    head_gradient,
    late_gradients,
    tied_gradient_copies,
    logits_at_head,
    capped_logits,
    inferred_logits,
)
"""Terms of a head that gives whole logits."""

DEFAULTS = {"fused_head": Const(0, source=SOURCE)}
