"""The slot that a rollout engine fills."""

from __future__ import annotations

from alignsim import Slot

ROLLOUT = Slot(
    name="rollout",
    promises={"kv_cache": "byte", "kv_cache_per_device": "byte"},
    required_for=frozenset({"generate"}),
    about="what generates, and the keys and values it keeps",
)
