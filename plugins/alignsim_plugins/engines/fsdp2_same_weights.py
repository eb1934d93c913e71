"""A role that runs on another's sharded weights: a reference that is the policy with its adapters switched off.

It holds no shards of its own and finds the root gathered, but its forward gathers every layer again.
"""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Const, hookimpl
from alignsim_plugins.adapters.slot import ADAPTERS
from alignsim_plugins.engines.fsdp2 import LIMITS, OPTIONS, model_parallel_devices
from alignsim_plugins.engines.fsdp2_forward import (
    gathered_at_inferred_head,
    gathered_at_inferred_loss,
    gathered_in_inference,
)
from alignsim_plugins.engines.fsdp2_gradients import made_gradient_bytes
from alignsim_plugins.engines.fsdp2_units import SOURCE, UNITS
from alignsim_plugins.engines.slot import ENGINE, SHARDED_BY_LAYER
from alignsim_plugins.engines.states import COMMUNICATION

ROOT_ALONE = "the root, in a phase in which the role whose weights they are does nothing: nobody has gathered it yet"

FSDP2_SAME_WEIGHTS = Component(
    name="fsdp2-same-weights",
    slot=ENGINE,
    terms=(
        model_parallel_devices,
        *(term for term in UNITS if term.name != "kept_gathered"),
        made_gradient_bytes,
        gathered_in_inference,
        gathered_at_inferred_head,
        gathered_at_inferred_loss,
    ),
    defaults={**OPTIONS, "gradients_exist": Const(0, source="there is no backward")},
    limits=LIMITS,
    never={"train": "it holds no shards of its own; choose an engine that does"},
    needs={"model_of.adapter": ADAPTERS, "model_of.engine": SHARDED_BY_LAYER},
    source=f"{SOURCE}; peft: disable_adapter()",
    left_out=(*COMMUNICATION, ROOT_ALONE),
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer to hold no shards of its own."""
    yield FSDP2_SAME_WEIGHTS
