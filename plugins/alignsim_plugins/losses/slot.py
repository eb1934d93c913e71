"""The slot that a loss path fills."""

from __future__ import annotations

from alignsim import Slot

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
    required_for=frozenset({"train", "infer"}),
    about="the head and the loss: which tokens get logits, how many copies of them live when, in which format",
)
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
"""
