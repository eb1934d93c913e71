"""The modelling code of transformers: every operation of a layer is a kernel of its own, and keeps what it needs."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, hookimpl
from alignsim_plugins.activations.backward import BACKWARD
from alignsim_plugins.activations.casts import CASTS
from alignsim_plugins.activations.forward import FORWARD
from alignsim_plugins.activations.inference import INFERENCE
from alignsim_plugins.activations.mlp import MLP
from alignsim_plugins.activations.norms import NORMS
from alignsim_plugins.activations.once import ONCE
from alignsim_plugins.activations.saved import attention_kept, checkpoint_saved, layer_saved
from alignsim_plugins.activations.slot import LAYERS, WHOLE_LAYERS
from alignsim_plugins.activations.training import TRAINING

TRANSFORMERS = Component(
    name="transformers",
    slot=LAYERS,
    terms=(
        attention_kept,
        layer_saved,
        checkpoint_saved,
        *NORMS,
        *MLP,
        *FORWARD,
        *BACKWARD,
        *ONCE,
        *CASTS,
        *TRAINING,
        *INFERENCE,
    ),
    kinds={WHOLE_LAYERS},
    source="transformers 5.24, eager PyTorch 2.13",
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer the modelling code of transformers."""
    yield TRANSFORMERS
