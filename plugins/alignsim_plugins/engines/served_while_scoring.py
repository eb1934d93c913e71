"""A reward model that an inference engine serves: it has its share of the device while it scores, and sleeps else.

The share is weights and a pool, as of an engine that generates. What the engine's own forward takes is within it; the
forward that is counted for the role comes on top, so that the two are together more by one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, maths, term, while_
from alignsim.limits import SHARE
from alignsim_plugins.engines.gradients import MADE
from alignsim_plugins.engines.served import SERVED
from alignsim_plugins.engines.slot import ENGINE
from alignsim_plugins.engines.turns import AFTER_TURNS, outside, turn

SOURCE = (
    "verl: trainer/config/reward_model, an inference engine for discriminative and generative reward models with "
    "free_cache_engine; vllm_async_server.py, a colocated server wakes weights and cache, and sleeps at level 1"
)
SCORES = turn("infer")
SHARE_OF_DEVICE = Const(0.9, source="vLLM: config, CacheConfig.gpu_memory_utilization", limit=SHARE)


@term("byte", per={"role"}, resource="allocated", live=while_("load") | SCORES, source=SOURCE)
def served_weights(weights: Any, model_parallel_devices: Any) -> Any:
    """The engine's own copy of the weights: this device's part."""
    return weights / model_parallel_devices


@term("byte", per={"role"}, during={"infer"}, resource="allocated", live=SCORES, source=SOURCE)
def scoring_pool(usable_memory: Any, served_weights: Any, gpu_memory_utilization: Any = SHARE_OF_DEVICE) -> Any:
    """What its share of all of the device's memory leaves beside the weights."""
    return maths.maximum(0, gpu_memory_utilization * usable_memory - served_weights)


@term("byte", per={"role"}, resource="host", live=outside(SCORES), source=SOURCE)
def sleeping_weights(served_weights: Any) -> Any:
    """Weights sleep on the host, in pinned memory: nobody hands them over anew."""
    return served_weights


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer an engine that scores."""
    yield Component(
        name="served-while-scoring",
        slot=ENGINE,
        terms=(
            *(each for each in SERVED.terms if each.name == "model_parallel_devices"),
            served_weights,
            scoring_pool,
            sleeping_weights,
            *MADE,
        ),
        defaults=SERVED.defaults,
        never={"train": "it only scores; choose an engine that trains"},
        releases=AFTER_TURNS,
        source=SOURCE,
        left_out=(*SERVED.left_out, "what an engine that scores keeps outside tensors while it sleeps"),
    )
