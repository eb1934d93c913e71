"""Full recomputation from checkpoints that wait on the host: the device holds only those on their way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, maths, span, term
from alignsim.limits import COUNT
from alignsim_plugins.recompute.full import FULL, WHOLE_MODEL
from alignsim_plugins.recompute.slot import RECOMPUTE

SOURCE = "unsloth: gradient_checkpointing.py, hidden states copied to pinned memory; torchtune: OffloadActivations"


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def saved_activations(checkpoint_saved: Any, reached_layers: Any, layers_on_their_way: Any, tokens: Any) -> Any:
    """Inputs of layers that are being copied, or were fetched ahead."""
    return checkpoint_saved * maths.minimum(reached_layers, layers_on_their_way) * tokens


@term(
    "byte",
    per=("phase", "role"),
    during=("train",),
    resource="host",
    live=span("forward_layers", "backward_first_layer"),
    source=SOURCE,
)
def checkpoints_on_host(checkpoint_saved: Any, reached_layers: Any, tokens: Any) -> Any:
    """The input of every layer that backward reaches, in pinned memory."""
    return checkpoint_saved * reached_layers * tokens


OFFLOADED = Component(
    name="offloaded",
    slot=RECOMPUTE,
    terms=(saved_activations, checkpoints_on_host),
    defaults={
        **FULL.defaults,
        "layers_on_their_way": Const(
            2,
            "layer",
            low=1,
            high=5,
            source="not measured: unsloth holds 1, torchtune's max_fwd_stash_size is 5",
            limit=COUNT,
        ),
    },
    limits={"trains_parts": WHOLE_MODEL},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer checkpoints on the host."""
    yield OFFLOADED
