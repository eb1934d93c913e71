"""What engines that divide weights share for a role that generates by itself, with its own sharded weights."""

from __future__ import annotations

from functools import partial

from alignsim import Const, term
from alignsim.limits import SWITCH

generated = partial(term, "byte", per=("phase", "role"), during=("generate",), resource="allocated")
"""``@generated(live=..., source=...)``: device memory of a role in every phase in which it generates."""

LAYER_BY_LAYER = Const(
    0,
    source="every token gathers the layers one after the other; 1 where a rollout has all weights gathered before",
    limit=SWITCH,
)
"""Of ``gathered_before``."""
