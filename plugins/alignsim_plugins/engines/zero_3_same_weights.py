"""A role on another's weights in shards of stage 3: a reference that is the policy with its adapters switched off.

It holds no shards of its own, but its forward gathers parameters again.
"""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Const, hookimpl
from alignsim_plugins.adapters.slot import ADAPTERS
from alignsim_plugins.engines.gradients import MADE
from alignsim_plugins.engines.slot import ENGINE
from alignsim_plugins.engines.states import COMMUNICATION
from alignsim_plugins.engines.zero_gathers import UNITS, gathered_at_inferred_head, gathered_in_inference
from alignsim_plugins.engines.zero_inference import GATHERING, GATHERING_LIMITS
from alignsim_plugins.engines.zero_stages import DEEPSPEED, GATHERED, SHARDS
from alignsim_plugins.engines.zero_states import persistent_parameters

SOURCE = f"{DEEPSPEED}/stage3.py; peft: disable_adapter()"

ZERO_3_SAME_WEIGHTS = Component(
    name="zero-3-same-weights",
    slot=ENGINE,
    terms=(
        *SHARDS,
        persistent_parameters,
        *(term for term in UNITS if term.name != "secondary_shards"),
        *MADE,
        gathered_in_inference,
        gathered_at_inferred_head,
    ),
    defaults={
        **{name: value for name, value in GATHERING.items() if name not in ("zero_hpz_partition_size", "pinned_share")},
        "zero_stage": Const(3, source=SOURCE),
    },
    limits=GATHERING_LIMITS,
    needs={"model_of.adapter": ADAPTERS, "model_of.engine": GATHERED},
    never={"train": "it holds no shards of its own; choose an engine that does"},
    source=SOURCE,
    left_out=COMMUNICATION,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer to hold no shards of its own."""
    yield ZERO_3_SAME_WEIGHTS
