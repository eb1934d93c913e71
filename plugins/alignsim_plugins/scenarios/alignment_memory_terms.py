"""What the reference case adds up: totals of PPO and DPO, and the devices that PPO's would fill."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from alignsim import Of, maths, term

SOURCE = "the reference case, after mlsysim 0.3.0"
MIN_DEVICES = "min_devices_for_ppo"


@term("byte", source=SOURCE)
def ppo_total(
    policy: Any = Of("policy.model_state"),
    reference: Any = Of("reference.model_state"),
    reward: Any = Of("reward.model_state"),
    critic: Any = Of("critic.model_state"),
) -> Any:
    """Policy and value model with optimizer state, reference and reward model with weights."""
    return policy + reference + reward + critic


@term("byte", source=SOURCE)
def dpo_total(policy: Any = Of("policy.model_state"), reference: Any = Of("reference.model_state")) -> Any:
    """Policy with optimizer state, reference with weights."""
    return policy + reference


@term("", source=SOURCE)
def dpo_reduction(ppo_total: Any, dpo_total: Any) -> Any:
    """The share of PPO's model state that DPO does without."""
    return (ppo_total - dpo_total) / ppo_total


@term("device", source=SOURCE)
def min_devices_for_ppo(ppo_total: Any, device_capacity: Any) -> Any:
    """Whole devices that PPO's model state fills, all their memory counted."""
    return maths.ceil(ppo_total / device_capacity)


@term("device", source="every rank is one device")
def devices(tensor: Any, pipeline: Any, data: Any) -> Any:
    """Devices of the layout."""
    return tensor * pipeline * data


OUTPUT_TERMS = (ppo_total, dpo_total, dpo_reduction, min_devices_for_ppo, devices)

PATHS = MappingProxyType(
    {
        "policy_state": "policy.model_state",
        "reference_weights": "reference.model_state",
        "reward_weights": "reward.model_state",
        "value_state": "critic.model_state",
        "ppo_total": "ppo_total",
        "dpo_total": "dpo_total",
        "dpo_reduction": "dpo_reduction",
        "model_parallel_devices": "policy.model_parallel_devices",
        "policy_per_device": "policy.model_state_per_device",
        "reference_per_device": "reference.model_state_per_device",
        "kv_cache": "policy.kv_cache",
        "kv_per_device": "policy.kv_cache_per_device",
        "min_devices_for_ppo": MIN_DEVICES,
        "devices": "devices",
    }
)
"""Field of the result -> path in the graph."""
