"""The slot that a loss path fills."""

from __future__ import annotations

from alignsim import Limit, Slot
from alignsim.limits import SWITCH

CROSS_ENTROPY = "cross-entropy"
TOKENS = "log-probabilities of tokens"
PAIRS = "log-probabilities of pairs"
ANSWERS = "log-probabilities of answers"
WORDS = "log-probabilities of all words"
TEACHER = "logits for another's loss"
VALUES = "values"
JOINT = "log-probabilities beside values"
JOINT_VALUES = "values beside log-probabilities"

LOSS = Slot(
    name="loss",
    promises={
        "head_tokens": "token",
        "head_matrix": "parameter",
        "head_input_saved": "byte",
        "norm_output": "byte",
        "head_gradient": "byte",
        "late_gradients": "parameter",
        "tied_gradient_copies": "",
        "inside_forward": "",
        "fused_head": "",
    },
    limits={"inside_forward": SWITCH, "fused_head": SWITCH},
    kinds={
        CROSS_ENTROPY: "the mean over all labels",
        TOKENS: "one for every token of an answer, as policy gradients need",
        PAIRS: "one for every answer, the chosen and the rejected of a pair in one batch",
        ANSWERS: "one for every answer, each good or bad by itself",
        WORDS: "all words' at every token, of two models",
        TEACHER: "all logits, for another role's loss to read",
        VALUES: "one number a token, without a vocabulary",
        JOINT: "policy and value model in one forward",
        JOINT_VALUES: "the value model's part of that",
    },
    required_for=frozenset({"train", "infer"}),
    about="the head and the loss: which tokens get logits, how many copies of them live when, in which format",
)

VOCABULARY = {"scalar_head": Limit(0, because="it is of a vocabulary's logits; for a scalar head choose loss 'score'")}
"""Of a model, for a loss path that reads logits."""

"""What is promised:

- ``head_tokens``: tokens that get logits;
- ``head_matrix``: parameters of the head that are multiplied by in one piece;
- ``head_input_saved``: the head's input, as kept for backward;
- ``norm_output``: the final norm's output where that is another tensor;
- ``head_gradient``: the head's, before any other gradient exists;
- ``late_gradients``: parameters of the embedding whose gradient comes last, 0 where a tied head's stands for it;
- ``tied_gradient_copies``: copies of a tied embedding's gradient at the end of backward, beside the gradient itself;
- ``inside_forward``: 1 if the model's own forward computes the loss;
- ``fused_head``: 1 if the loss multiplies by the head itself, tile by tile.

What a loss path is for is one of ``kinds``, or another that its author and an algorithm's agree upon.
"""
