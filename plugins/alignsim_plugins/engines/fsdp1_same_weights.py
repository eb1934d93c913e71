"""A role that runs on another's flat parameters: a reference that is the policy with its adapters switched off.

It holds no shards of its own and finds the root gathered, but its forward gathers every layer again.
"""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Const, hookimpl
from alignsim_plugins.adapters.slot import ADAPTERS
from alignsim_plugins.engines.fsdp1 import FLAT, LEFT_OUT, LIMITS, OPTIONS
from alignsim_plugins.engines.fsdp1_forward import (
    gathered_at_inferred_head,
    gathered_at_inferred_loss,
    gathered_in_inference,
    root_in_inference,
)
from alignsim_plugins.engines.fsdp1_units import SOURCE, UNITS
from alignsim_plugins.engines.fsdp2 import model_parallel_devices
from alignsim_plugins.engines.fsdp2_gradients import made_gradient_bytes
from alignsim_plugins.engines.fsdp2_same_weights import ROOT_ALONE
from alignsim_plugins.engines.fsdp2_units import gathered_bytes, gradient_shards, weight_shards
from alignsim_plugins.engines.slot import ENGINE

ONLY_IN_BACKWARD = ("reduce_bytes", "use_orig_params", "backward_prefetch", "backward_prefetch_post")

FSDP1_SAME_WEIGHTS = Component(
    name="fsdp1-same-weights",
    slot=ENGINE,
    terms=(
        model_parallel_devices,
        weight_shards,
        gradient_shards,
        gathered_bytes,
        made_gradient_bytes,
        *UNITS,
        root_in_inference,
        gathered_in_inference,
        gathered_at_inferred_head,
        gathered_at_inferred_loss,
    ),
    defaults={
        **{name: value for name, value in OPTIONS.items() if name not in ONLY_IN_BACKWARD},
        "gradients_exist": Const(0, source="there is no backward"),
    },
    limits={name: limit for name, limit in LIMITS.items() if name not in ONLY_IN_BACKWARD},
    never={"train": "it holds no shards of its own; choose an engine that does"},
    needs={"model_of.adapter": ADAPTERS, "model_of.engine": FLAT},
    source=f"{SOURCE}; peft: disable_adapter()",
    left_out=(*LEFT_OUT, ROOT_ALONE),
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer to hold no flat parameters of its own."""
    yield FSDP1_SAME_WEIGHTS
