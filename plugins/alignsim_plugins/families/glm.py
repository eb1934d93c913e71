"""GLM of Z.ai up to 4.5."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Family, hookimpl
from alignsim_plugins.families.deepseek import regular_experts
from alignsim_plugins.families.usual import FURTHER, USUAL, VERSION

KEYS = {**USUAL, "qkv_bias": "attention_bias"}
GLM4 = Family(
    name="glm4",
    keys=KEYS,
    defaults={"kv_heads": 2, "head_dim": 128, "qkv_bias": True},
    always={"norms": 4},
    source=f"{VERSION}, Glm4Config and Glm4DecoderLayer",
)
GLM4_MOE = Family(
    name="glm4_moe",
    keys={
        **KEYS,
        "qk_norm": "use_qk_norm",
        "experts": "n_routed_experts",
        "experts_per_token": "num_experts_per_tok",
        "expert_ffn": "moe_intermediate_size",
        "shared_experts": "n_shared_experts",
        "shared_ffn": "moe_intermediate_size",
        "dense_layers": "first_k_dense_replace",
    },
    defaults={
        "kv_heads": 8,
        "experts": 128,
        "experts_per_token": 8,
        "expert_ffn": 1408,
        "shared_experts": 1,
        "shared_ffn": 1408,
        "dense_layers": 1,
    },
    always={"router_bias": True, "router_in_32_bits": True},
    finish=regular_experts,
    left_out=FURTHER,
    source=f"{VERSION}, Glm4MoeConfig",
)


@hookimpl
def alignsim_families() -> Iterator[Family]:
    """Offer both."""
    yield from (GLM4, GLM4_MOE)
