"""The slot that says which parameters are trained."""

from __future__ import annotations

from alignsim import Slot
from alignsim.limits import SWITCH

EVERYTHING = "every parameter"
ADAPTERS = "adapters"
NOTHING_FROZEN = "nothing frozen"

ADAPTER = Slot(
    name="adapter",
    promises={
        "trainable_parameters": "parameter",
        "gradient_bytes": "byte/parameter",
        "largest_trained": "parameter",
        "trained_embedding": "parameter",
        "trained_head": "parameter",
        "trained_vectors": "parameter",
        "trained_experts": "parameter",
        "trained_edges": "parameter",
        "largest_inner": "parameter",
        "inner_side": "",
        "frozen": "",
        "frozen_embedding": "",
        "frozen_final_norm": "",
        "frozen_head": "",
        "reached_layers": "layer",
        "frozen_below": "layer",
        "trained_of_layer": "parameter",
        "adapter_weights": "byte",
        "adapter_saved": "byte/token",
        "adapter_forward_work": "byte/token",
        "adapter_forward_end": "byte/token",
        "adapter_recomputed": "byte/token",
        "adapter_backward": "byte/token",
        "first_layer_unsaved": "byte/token",
        "adapter_casts": "byte",
        "projection_bytes": "byte",
        "quantised_matrices": "parameter",
    },
    limits={"frozen": SWITCH},
    kinds={
        EVERYTHING: "the model's own weights change",
        NOTHING_FROZEN: "every weight of the model changes",
        ADAPTERS: "the model's own weights stay; without its adapters it is what it was",
    },
    required_for=frozenset({"train"}),
    open_to=frozenset({"generate"}),
    about="which parameters are trained: all, some parts, or those of adapters over a frozen model",
)
"""What is promised:

- ``trainable_parameters``: those that get gradients;
- ``gradient_bytes``: of the gradient of each;
- ``largest_trained``: parameters of the largest tensor that is trained;
- ``trained_embedding``: trained parameters of the embedding;
- ``trained_head``: those of a head of its own;
- ``trained_vectors``: those in tensors of one dimension;
- ``trained_experts``: those in tensors of three;
- ``trained_edges``: rows and columns of all trained matrices, experts' included;
- ``largest_inner``: the largest trained matrix of a layer;
- ``inner_side``: its shorter side;
- ``frozen``: 1 if no layer's own weights get gradients;
- ``frozen_embedding``: 1 if the embedding gets none, so that backward need not arrive at it;
- ``frozen_final_norm``: 1 if the norm before the head gets none;
- ``frozen_head``: 1 if the head's matrix gets none;
- ``reached_layers``: layers that backward goes through: all from the first on in which something is trained;
- ``frozen_below``: frozen ones among them, under layers that are trained;
- ``trained_of_layer``: trained parameters of one that is trained;
- ``adapter_weights``: of the adapters;
- ``adapter_saved``: what adapters keep for backward, per token and layer;
- ``adapter_forward_work``: live within a layer's forward at its adapters' worst instant, 0 without adapters;
- ``adapter_forward_end``: still live when the last projection of a layer is done;
- ``adapter_recomputed``: live at an adapter while a layer is recomputed, less all that the layer keeps; 0 without;
- ``adapter_backward``: what the MLP's backward holds more than two gradients of its inner width, such as a third where
  down is frozen and no input of it is kept that could be freed before;
- ``first_layer_unsaved``: what the first layer need not keep, since its input needs no gradient;
- ``adapter_casts``: copies of the adapters in the format of arithmetic;
- ``projection_bytes``: of an element that a projection gives, where that is wider than arithmetic, else 0;
- ``quantised_matrices``: parameters of one layer that autocast does not cast, as they are in few bits.
"""
