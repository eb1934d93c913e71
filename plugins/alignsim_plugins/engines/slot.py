"""The slot that an engine fills."""

from __future__ import annotations

from alignsim import Slot

ENGINE = Slot(
    name="engine",
    promises={
        "model_parallel_devices": "device",
        "gradient_shards": "device",
        "made_gradient_bytes": "byte/parameter",
        "gradients_exist": "",
    },
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
