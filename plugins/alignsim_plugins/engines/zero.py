"""DeepSpeed's ZeRO with its stage as a number: ``zero_stage`` may be swept, as anything else.

``zero-1``, ``zero-2`` and ``zero-3`` fix it. Every rank has a batch of its own and computes the whole model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from alignsim import Component, Const, Limit, hookimpl
from alignsim_plugins.engines.slot import ENGINE, WHOLE_WEIGHTS
from alignsim_plugins.engines.states import COMMUNICATION, held_inputs
from alignsim_plugins.engines.zero_gathers import INFERENCE, TRAINING, UNITS
from alignsim_plugins.engines.zero_gradients import GRADIENTS
from alignsim_plugins.engines.zero_host import ON_HOST, TRAINED_ON_HOST
from alignsim_plugins.engines.zero_stages import DEEPSPEED, GATHERED, LIMITS, OPTIONS, SHARDS
from alignsim_plugins.engines.zero_states import TRAINED_STATES, WEIGHTS
from alignsim_plugins.engines.zero_step import STEP

TERMS = (
    *SHARDS,
    *WEIGHTS,
    *TRAINED_STATES,
    held_inputs,
    *GRADIENTS,
    *STEP,
    *UNITS,
    *TRAINING,
    *INFERENCE,
    *ON_HOST,
    *TRAINED_ON_HOST,
)
LEFT_OUT = (
    *COMMUNICATION,
    "padding: flat buffers to a multiple of the ranks, and in stage 3 every parameter",
    "the first two steps of stage 3, in which it fetches nothing ahead; and what reducing beside compute holds longer",
    "a second copy of the weights while stages 1 and 2 flatten them, which DeepSpeed makes only where there is room",
    "offloading to disks (ZeRO-Infinity), quantised communication (ZeRO++), and parts of the optimizer on the host",
)


def stage(name: str, number: int, limits: Mapping[str, Limit], source: str, kinds: Iterable[str]) -> Component:
    """Return the engine of one stage."""
    return Component(
        name=name,
        slot=ENGINE,
        terms=TERMS,
        defaults={**OPTIONS, "zero_stage": Const(number, source=source)},
        limits={**LIMITS, **limits},
        kinds=frozenset(kinds),
        source=source,
        left_out=LEFT_OUT,
    )


ANY_STAGE = stage(
    "zero", 2, {}, f"{DEEPSPEED}, stages 1 to 3; stage 2 unless a run says otherwise", (WHOLE_WEIGHTS, GATHERED)
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer every stage as a number."""
    yield ANY_STAGE
