"""fully_shard on a model alone, as TRL prepares a reference: the whole model is one unit, gathered for every forward.

It is gathered into a buffer and copied out of it, and both stay until the forward returns: twice the model. A model
that is not sharded again (``reshards_root=0``) stays gathered after that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, after, at, hookimpl, resident, term
from alignsim_plugins.activations.instants import inferred
from alignsim_plugins.engines.fsdp2 import LIMITS, OPTIONS, model_parallel_devices
from alignsim_plugins.engines.fsdp2_gradients import made_gradient_bytes
from alignsim_plugins.engines.fsdp2_units import gathered_bytes, gradient_shards, weight_shards
from alignsim_plugins.engines.host import OFFLOAD_LIMITS
from alignsim_plugins.engines.slot import ENGINE
from alignsim_plugins.engines.states import COMMUNICATION, held_weights

SOURCE = (
    "torch 2.13: _fully_shard/_fsdp_param_group.py, fully_shard on a model alone; TRL: models/utils.py, prepare_fsdp"
)


@term("byte", per={"role"}, source=SOURCE)
def model_gathered(parameters: Any, gathered_bytes: Any) -> Any:
    """All parameters, whole."""
    return parameters * gathered_bytes


@term("byte", per={"role"}, source=SOURCE)
def model_left(model_gathered: Any, reshards_root: Any) -> Any:
    """What stays gathered when a forward returns."""
    return (1 - reshards_root) * model_gathered


@term(
    "byte", per={"role"}, during={"infer"}, resource="allocated", live=resident & after("forward_layers"), source=SOURCE
)
def left_gathered(model_left: Any) -> Any:
    """The same, from step to step: there is no backward after which it would be sharded."""
    return model_left


@inferred(live=at("forward_layers", "forward_head"), source=SOURCE)
def gathered_in_inference(model_gathered: Any, model_left: Any, weight_shards: Any) -> Any:
    """The model, and the buffer that it was gathered into; a single rank copies without one."""
    return model_gathered - model_left + (weight_shards > 1) * model_gathered


@inferred(live=at("loss"), source=SOURCE)
def gathered_at_inferred_loss(gathered_in_inference: Any, inside_forward: Any) -> Any:
    """Both go when the forward returns."""
    return inside_forward * gathered_in_inference


FSDP2_ONE_UNIT = Component(
    name="fsdp2-one-unit",
    slot=ENGINE,
    terms=(
        model_parallel_devices,
        weight_shards,
        gradient_shards,
        gathered_bytes,
        made_gradient_bytes,
        held_weights,
        model_gathered,
        model_left,
        left_gathered,
        gathered_in_inference,
        gathered_at_inferred_loss,
    ),
    defaults={
        "replicas": OPTIONS["replicas"],
        "reshards_root": Const(
            1,
            source="accelerate: FullyShardedDataParallelPlugin.reshard_after_forward, True",
            limit=OPTIONS["reshards_root"].limit,
        ),
        "gradients_exist": Const(0, source="there is no backward"),
    },
    limits={name: limit for name, limit in LIMITS.items() if name not in OFFLOAD_LIMITS},
    never={
        "train": "gradients of a whole model at once are not modelled; choose engine 'fsdp2'",
        "generate": "every token would gather the whole model; choose engine 'fsdp2'",
    },
    source=SOURCE,
    left_out=(*COMMUNICATION, "on a single rank, the cast of one parameter before it is copied"),
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer fully_shard on a model alone."""
    yield FSDP2_ONE_UNIT
