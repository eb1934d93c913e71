"""Some parts of a model trained, the others frozen: autograd keeps nothing that only a frozen weight would need.

What is trained is at the top. Below the first layer that is trained nothing needs a gradient: those layers keep nothing
for backward, which ends above them. A tied head is the embedding: neither can be trained without the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Limit, Term, hookimpl, maths, term
from alignsim.limits import SWITCH
from alignsim_plugins.adapters.full import NO_ADAPTERS, gradient_bytes
from alignsim_plugins.adapters.slot import ADAPTER, EVERYTHING
from alignsim_plugins.adapters.trained import TRAINED
from alignsim_plugins.elements import FP32, TRACES

SOURCE = f"torch: requires_grad_(False); {TRACES}"
FREEZE = "LLaMA-Factory ff6d4d12: model/adapter.py, finetuning_type 'freeze'"


@term("", per={"role"}, during={"train"}, source="Press and Wolf 2017: one matrix for both")
def tied_head(tied: Any, scalar_head: Any) -> Any:
    """1 where the head is the embedding."""
    return tied * (1 - scalar_head)


@term("layer", per={"role"}, during={"train"}, source=SOURCE)
def trained_layers(layers: Any, frozen_layers: Any) -> Any:
    """All but the first so many."""
    return layers - maths.minimum(frozen_layers, layers)


@term("layer", per={"role"}, during={"train"}, source=FREEZE, name="trained_layers")
def last_trained_layers(layers: Any, last_layers: Any) -> Any:
    """The last so many."""
    return maths.minimum(last_layers, layers)


@term("layer", per={"role"}, during={"train"}, source=SOURCE)
def reached_layers(trained_layers: Any, layers: Any, reaches_inputs: Any, frozen_embedding: Any) -> Any:
    """Backward ends at the first layer that is trained, unless what comes before the layers needs a gradient."""
    return maths.where(reaches_inputs + (1 - frozen_embedding) > 0, layers, trained_layers)


@term("layer", per={"role"}, during={"train"}, source=SOURCE)
def frozen_below(reached_layers: Any, trained_layers: Any) -> Any:
    """Those that are reached and not trained, if others are."""
    return maths.where(trained_layers > 0, reached_layers - trained_layers, 0)


@term("", per={"role"}, during={"train"}, source=SOURCE)
def frozen(trained_layers: Any) -> Any:
    """1 if no layer is trained."""
    return 1 * (trained_layers <= 0)


@term("", per={"role"}, during={"train"}, source="the head is the embedding", name="frozen_head")
def frozen_with_the_embedding(tied_head: Any) -> Any:
    """A head of its own is trained."""
    return tied_head


@term("", per={"role"}, during={"train"}, source="the head is the embedding", name="frozen_embedding")
def trained_with_the_head(tied_head: Any) -> Any:
    """The embedding is trained only where it is the head."""
    return 1 - tied_head


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trained_embedding(frozen_embedding: Any, embedding_matrix: Any) -> Any:
    """The embedding of tokens, where that is trained; positions are not."""
    return (1 - frozen_embedding) * embedding_matrix


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trainable_parameters(
    trained_embedding: Any,
    trained_layers: Any,
    trained_expert_layers: Any,
    dense_layer_parameters: Any,
    expert_layer_parameters: Any,
    frozen_final_norm: Any,
    norm_parameters: Any,
    frozen_head: Any,
    head_parameters: Any,
) -> Any:
    """Those of all parts that are trained."""
    return (
        trained_embedding
        + (trained_layers - trained_expert_layers) * dense_layer_parameters
        + trained_expert_layers * expert_layer_parameters
        + (1 - frozen_final_norm) * norm_parameters
        + (1 - frozen_head) * head_parameters
    )


@term("parameter", per={"role"}, during={"train"}, source=SOURCE)
def trained_of_layer(trained_layers: Any, layer_parameters: Any) -> Any:
    """All that a trained layer has."""
    return (trained_layers > 0) * layer_parameters


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def first_layer_unsaved(
    reached_layers: Any,
    frozen_embedding: Any,
    reaches_inputs: Any,
    rms_norm: Any,
    hidden: Any,
    fp32: Any = FP32,
) -> Any:
    """The input of the first layer that is trained needs no gradient: its norm keeps what its weight needs, no more."""
    return (reached_layers > 0) * frozen_embedding * (1 - reaches_inputs) * rms_norm * fp32 * (hidden + 1)


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def adapter_backward(frozen: Any, down_input: Any) -> Any:
    """Where the projection down is frozen, none of its input is freed before the product's two gradients are made."""
    return frozen * down_input


SHARED = (
    adapter_backward,
    gradient_bytes,
    tied_head,
    trained_embedding,
    trainable_parameters,
    reached_layers,
    frozen_below,
    frozen,
    trained_of_layer,
    first_layer_unsaved,
    *TRAINED,
)


def _parts(name: str, *terms: Term, source: str, **numbers: Const) -> Component:
    return Component(
        name=name,
        slot=ADAPTER,
        terms=(*SHARED, *terms),
        defaults={
            **{name: number for name, number in NO_ADAPTERS.items() if name != "adapter_backward"},
            "trains_parts": Const(1, source="for engines that ask"),
            **numbers,
        },
        kinds={EVERYTHING},
        limits={"trained_layers": Limit("layers", whole=True)},
        source=source,
    )


def _is(value: float, source: str, unit: str = "", *, least: float = 0) -> Const:
    limit = Limit("layers", least=least, whole=True) if unit == "layer" else SWITCH
    return Const(value, unit, source=source, limit=limit)


FROZEN_LAYERS = _parts(
    "frozen-layers",
    trained_layers,
    frozen_with_the_embedding,
    frozen_layers=_is(0, "a choice: the embedding alone is frozen", "layer"),
    frozen_embedding=_is(1, "frozen like the layers above it"),
    frozen_final_norm=_is(0, "trained like the layers below it"),
    source=SOURCE,
)
"""The embedding and the first layers frozen, all else trained."""

LAST_LAYERS = _parts(
    "last-layers",
    last_trained_layers,
    last_layers=_is(2, f"{FREEZE}, freeze_trainable_layers=2", "layer", least=1),
    frozen_embedding=_is(1, FREEZE),
    frozen_final_norm=_is(1, FREEZE),
    frozen_head=_is(1, FREEZE),
    source=f"{FREEZE}; {SOURCE}",
)
"""The last layers trained, all else frozen: the norm and the head above them, too."""

HEAD_ONLY = _parts(
    "head-only",
    trained_with_the_head,
    trained_layers=_is(0, "the head alone", "layer"),
    frozen_final_norm=_is(1, "the head alone is trained"),
    frozen_head=_is(0, "the head alone is trained"),
    source=SOURCE,
)
"""The head trained over a frozen model: a reward model or critic at its cheapest."""


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer to train parts of a model."""
    yield from (FROZEN_LAYERS, LAST_LAYERS, HEAD_ONLY)
