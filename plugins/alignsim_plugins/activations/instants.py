"""Short forms for terms that a role holds at certain instants of a phase in which it trains, or infers."""

from __future__ import annotations

from functools import partial

from alignsim import term
from alignsim_plugins.elements import TRACES

trained = partial(term, "byte", per=("phase", "role"), during=("train",), resource="allocated", source=TRACES)
"""``@trained(live=...)``: device memory of a role in every phase in which it trains."""

inferred = partial(term, "byte", per=("phase", "role"), during=("infer",), resource="allocated", source=TRACES)
"""``@inferred(live=...)``: device memory of a role in every phase in which it runs forward without gradients."""

trained_on_stage = partial(term, "byte", per=("phase", "role", "stage"), during=("train",), resource="allocated")
"""``@trained_on_stage(live=..., source=...)``: the same for each kind of rank."""

inferred_on_stage = partial(term, "byte", per=("phase", "role", "stage"), during=("infer",), resource="allocated")
"""The same without gradients."""
