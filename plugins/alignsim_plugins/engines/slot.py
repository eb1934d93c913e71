"""The slot that an engine fills."""

from __future__ import annotations

from alignsim import Limit, Slot
from alignsim.limits import SWITCH

WHOLE_WEIGHTS = "weights whole while a model runs"
"""A kind of engine: a device finds the weights that it computes with where they are."""

SHARDED_BY_LAYER = "weights gathered layer by layer"
"""A kind of engine: a device gathers one layer after the other, for every role that runs on the weights."""

DIVIDES_LAYERS = "layers divided over tensor ranks"
"""A kind of engine: a device has a part of every layer, and of the pipeline its own stage."""

ENGINE = Slot(
    name="engine",
    promises={
        "model_parallel_devices": "device",
        "gradient_shards": "device",
        "made_gradient_bytes": "byte/parameter",
        "gradients_exist": "",
    },
    limits={"gradient_shards": Limit(least=1), "gradients_exist": SWITCH},
    required_for=frozenset({"train", "infer", "generate"}),
    about="how weights, gradients and optimizer state are spread over devices",
)
"""What is promised:

- ``model_parallel_devices``: devices that compute one model together;
- ``gradient_shards``: devices that share the gradients that are done with;
- ``made_gradient_bytes``: of a gradient as backward makes it, before it is reduced or added to another;
- ``gradients_exist``: 1 if every gradient has its memory before backward begins, and new ones are added one at a time.

An engine also brings the terms that take up memory. States that are whole or cut into equal shares are in
:mod:`~alignsim_plugins.engines.states`, gradients that a device keeps whole in
:mod:`~alignsim_plugins.engines.gradients`; an engine that differs in nothing else is a component of those, with
``weight_shards``, ``gradient_shards`` and ``optimizer_shards`` of its own.
"""
