"""Full recomputation: every layer keeps its input, and is computed again in its backward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Limit, hookimpl, term
from alignsim_plugins.recompute.slot import RECOMPUTE

INPUTS = "transformers 5.24: modeling_utils.py, checkpoints come with enable_input_require_grads()"
SOURCE = "Chen et al. 2016 (sublinear memory), section 4; torch.utils.checkpoint around every layer"

WHOLE_MODEL = Limit(
    0, because="layers that keep more and layers that keep less are not told apart; choose recompute 'full' or 'none'"
)
"""Of ``trains_parts``, where some layers are frozen and others trained."""


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def saved_activations(checkpoint_saved: Any, reached_layers: Any, tokens: Any) -> Any:
    """The input of every layer that backward reaches."""
    return checkpoint_saved * reached_layers * tokens


FULL = Component(
    name="full",
    slot=RECOMPUTE,
    terms=(saved_activations,),
    defaults={
        "recomputes": Const(1, source=SOURCE),
        "recomputes_last": Const(1, source=SOURCE),
        "recomputed_share": Const(1, source=SOURCE),
        "reaches_inputs": Const(1, source=INPUTS),
        "recomputes_core": Const(0, source=SOURCE),
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer full recomputation."""
    yield FULL
