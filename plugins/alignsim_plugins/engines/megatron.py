"""Megatron-LM: tensor, sequence, context and pipeline parallel, states of the optimizer over data and context ranks.

Choose ``layers: megatron`` with it, which says what its layers keep and work with.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Limit, hookimpl, term
from alignsim.limits import COUNT, SWITCH
from alignsim_plugins.activations.slot import DIVIDED_LAYERS
from alignsim_plugins.adapters.slot import NOTHING_FROZEN
from alignsim_plugins.engines.megatron_experts import SPREAD_EXPERTS
from alignsim_plugins.engines.megatron_rank import RANK
from alignsim_plugins.engines.megatron_refusals import REFUSALS
from alignsim_plugins.engines.megatron_stages import SPREAD, STAGES
from alignsim_plugins.engines.megatron_states import BUFFERS, OFFLOAD, OPTIMIZER, STATES
from alignsim_plugins.engines.single_device import AS_STORED
from alignsim_plugins.engines.slot import DIVIDES_LAYERS, ENGINE
from alignsim_plugins.engines.states import COMMUNICATION

SOURCE = "Shoeybi et al. 2019; Narayanan et al. 2021; Korthikanti et al. 2022; Megatron-LM d98e8a64"


@term("device", per={"role"}, source="Narayanan et al. 2021, section 3")
def model_parallel_devices(tensor: Any, pipeline: Any, context: Any) -> Any:
    """Devices that compute one model together."""
    return tensor * pipeline * context


@term("byte/parameter", per={"role"}, during={"train"}, source=BUFFERS)
def made_gradient_bytes(weight_bytes: Any) -> Any:
    """A gradient is made in its weight's format, and added to the buffer."""
    return weight_bytes


MEGATRON = Component(
    name="megatron",
    slot=ENGINE,
    terms=(model_parallel_devices, made_gradient_bytes, *RANK, *SPREAD, *SPREAD_EXPERTS, *STATES, *REFUSALS),
    defaults={
        "gradient_shards": Const(1, "device", source=f"{BUFFERS}: a buffer of all gradients on every rank"),
        "gradients_exist": Const(1, source=f"{BUFFERS}: gradients are in a buffer from the start"),
        "distributed_optimizer": Const(
            1, source="verl, NeMo-RL, Megatron-Bridge: use_distributed_optimizer", limit=SWITCH
        ),
        "optimizer_instances": Const(
            1, "device", source=f"{OPTIMIZER}: num_distributed_optimizer_instances", limit=COUNT
        ),
        "optimizer_offload_fraction": Const(
            0, source=f"{OFFLOAD}: nothing is on the host unless told", limit=Limit(1, because="1 is all of it")
        ),
    },
    limits={
        "gathers_cast": AS_STORED,
        "sequence": Limit(1, because="ranks that share sequences are called context here: say context"),
    },
    kinds={DIVIDES_LAYERS},
    needs={"layers": DIVIDED_LAYERS, "adapter": NOTHING_FROZEN},
    stages=STAGES,
    source=SOURCE,
    left_out=COMMUNICATION,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer Megatron-LM."""
    yield MEGATRON
