"""ZeRO-inference: a role that is not trained, in shards of stage 3; its forward gathers a window of parameters."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Const, hookimpl
from alignsim_plugins.engines.gradients import MADE
from alignsim_plugins.engines.slot import ENGINE
from alignsim_plugins.engines.states import COMMUNICATION, held_inputs
from alignsim_plugins.engines.zero_gathers import INFERENCE, UNITS
from alignsim_plugins.engines.zero_host import ON_HOST
from alignsim_plugins.engines.zero_stages import DEEPSPEED, GATHERED, GATHERS, HOST, LIMITS, SHARDS
from alignsim_plugins.engines.zero_states import WEIGHTS

SOURCE = f"{DEEPSPEED}/parameter_offload.py: DeepSpeedZeRoOffload, without an optimizer"
GATHERING = {**GATHERS, **{name: HOST[name] for name in ("offload_param", "pinned_share")}}
GATHERING_LIMITS = {
    name: LIMITS[name]
    for name in (
        "tensor",
        "pipeline",
        "sequence",
        "context",
        "expert",
        "zero_hpz_partition_size",
        "gathers_cast",
        "quantised_bits",
    )
}
GATHERING_LIMITS["offload_param"] = LIMITS["offload_param"]

ZERO_INFERENCE = Component(
    name="zero-inference",
    slot=ENGINE,
    terms=(*SHARDS, *WEIGHTS, held_inputs, *MADE, *UNITS, *INFERENCE, *ON_HOST),
    defaults={**GATHERING, "zero_stage": Const(3, source=f"{SOURCE}: stage 3 alone runs without one")},
    limits=GATHERING_LIMITS,
    kinds={GATHERED},
    never={"train": "it has no optimizer; choose engine 'zero-3'"},
    source=SOURCE,
    left_out=(*COMMUNICATION, "padding of every parameter to a multiple of the ranks"),
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer shards without an optimizer."""
    yield ZERO_INFERENCE
