"""ZeRO-3 whose trained role sleeps while it does not train: all but its 16-bit shards of weights go to the host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from alignsim import Component, hookimpl, term, while_
from alignsim_plugins.engines.turns import AFTER_TURNS, TRAINING, leaving, outside
from alignsim_plugins.engines.zero_3 import ZERO_3

SOURCE = (
    "OpenRLHF 3c3be623: utils/deepspeed/deepspeed_utils.py, offload_deepspeed_states (--ds.enable_sleep): optimizer, "
    "32-bit weights, gradients and their bucket; DeepSpeed: offload_states"
)
GONE = ("held_master_weights", "held_optimizer_state", "standing_gradients", "standing_bucket")
AWAKE = while_("load") | TRAINING


@term("byte", per={"role"}, during={"train"}, resource="host", live=outside(AWAKE), source=SOURCE)
def sleeping_states(
    held_master_weights: Any, held_optimizer_state: Any, standing_gradients: Any, standing_bucket: Any
) -> Any:
    """What was on the device, in pinned memory; before the first step, what there will be."""
    return held_master_weights + held_optimizer_state + standing_gradients + standing_bucket


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer stage 3 with sleep."""
    yield attrs.evolve(
        ZERO_3,
        name="zero-3-sleeping",
        terms=(*leaving(ZERO_3.terms, AWAKE, GONE), sleeping_states),
        releases=AFTER_TURNS,
        source=f"{ZERO_3.source}; {SOURCE}",
    )
