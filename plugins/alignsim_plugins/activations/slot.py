"""The slot that the modelling code fills."""

from __future__ import annotations

from alignsim import Slot

WHOLE_LAYERS = "whole layers"
"""A kind of modelling code: every rank computes whole layers."""

DIVIDED_LAYERS = "layers divided over tensor ranks"
"""A kind of modelling code: a rank computes its part of every layer, as its engine divides them."""

LAYERS = Slot(
    name="layers",
    promises={
        "layer_saved": "byte/token",
        "checkpoint_saved": "byte/token",
        "forward_work": "byte/token",
        "layer_backward": "byte",
        "layer_backward_again": "byte",
        "final_norm_saved": "byte",
        "rotary_tables": "byte",
    },
    required_for=frozenset({"train", "infer"}),
    about="the modelling code: what a layer keeps for backward, and what its forward and backward need beside that",
)
"""What is promised:

- ``layer_saved``: kept for backward, per token and layer;
- ``checkpoint_saved``: kept of a layer that is computed again, per token: its input;
- ``forward_work``: live within a layer's forward at its worst instant, per token, beside what is kept;
- ``layer_backward``: live within a layer's backward at its worst instant, the gradients it has made by then included;
- ``layer_backward_again``: the same without gradients: they exist already after the first micro-batch;
- ``final_norm_saved``: kept by the norm before the head, the head's input included;
- ``rotary_tables``: sines and cosines.
"""
