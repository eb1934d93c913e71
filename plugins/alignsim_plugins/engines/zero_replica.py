"""DeepSpeed without ZeRO (stage 0): the whole model on every rank, as frameworks keep a reference below stage 3."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, hookimpl
from alignsim_plugins.engines.gradients import MADE
from alignsim_plugins.engines.single_device import ALONE, AS_STORED, model_parallel_devices
from alignsim_plugins.engines.slot import ENGINE, WHOLE_WEIGHTS
from alignsim_plugins.engines.states import COMMUNICATION, WHOLE, held_inputs, held_weights

SOURCE = "TRL 1.x: models/utils.py, prepare_deepspeed; OpenRLHF: get_eval_ds_config; stage 0 unless training is stage 3"

ZERO_REPLICA = Component(
    name="zero-replica",
    slot=ENGINE,
    terms=(model_parallel_devices, held_weights, held_inputs, *MADE),
    defaults={name: WHOLE[name] for name in ("weight_shards", "gradient_shards")},
    limits={**ALONE, "gathers_cast": AS_STORED},
    never={"train": "it has no optimizer; choose engine 'zero-1'"},
    kinds={WHOLE_WEIGHTS},
    source=SOURCE,
    left_out=COMMUNICATION,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer a replica."""
    yield ZERO_REPLICA
