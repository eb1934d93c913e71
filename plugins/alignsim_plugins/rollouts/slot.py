"""The slot that a rollout engine fills."""

from __future__ import annotations

from alignsim import Slot

ROLLOUT = Slot(
    name="rollout",
    promises={"kv_cache": "byte", "kv_cache_per_device": "byte"},
    required_for=frozenset({"generate"}),
    about="what generates, and the keys and values it keeps",
)
"""What is promised:

- ``kv_cache``: keys and values of all rollout sequences in all layers;
- ``kv_cache_per_device``: the share of one device.
"""
