"""Selective recomputation: attention alone is computed again from query, key and value.

It matters where scores are whole in memory; a fused kernel does as much by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Const, hookimpl
from alignsim_plugins.recompute.nothing import saved_activations
from alignsim_plugins.recompute.slot import RECOMPUTE

SOURCE = "Korthikanti et al. 2022, section 5; Megatron-LM: recompute_granularity='selective', core_attn"

CORE_ATTENTION = Component(
    name="core-attention",
    slot=RECOMPUTE,
    terms=(saved_activations,),
    defaults={
        "recomputes": Const(0, source=SOURCE),
        "recomputes_last": Const(0, source=SOURCE),
        "recomputed_share": Const(0, source=SOURCE),
        "reaches_inputs": Const(0, source=SOURCE),
        "recomputes_core": Const(1, source=SOURCE),
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer recomputation of attention alone."""
    yield CORE_ATTENTION
