"""DeepSeek V2 and V3 with latent attention, and Kimi of Moonshot, which is built like V3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from alignsim import Family, hookimpl
from alignsim.fields import Fields
from alignsim_plugins.families.usual import FURTHER, USUAL, VERSION, VISION, must

KEYS = {
    **{field: key for field, key in USUAL.items() if field != "head_dim"},  # it is the rotary part's alone there
    "qkv_bias": "attention_bias",
    "q_lora_rank": "q_lora_rank",
    "kv_lora_rank": "kv_lora_rank",
    "qk_nope_head_dim": "qk_nope_head_dim",
    "qk_rope_head_dim": "qk_rope_head_dim",
    "v_head_dim": "v_head_dim",
    "experts": "n_routed_experts",
    "experts_per_token": "num_experts_per_tok",
    "expert_ffn": "moe_intermediate_size",
    "shared_experts": "n_shared_experts",
    "shared_ffn": "moe_intermediate_size",
    "dense_layers": "first_k_dense_replace",
}
LATENT = {"q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}


def regular_experts(config: Fields, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Every layer after the leading dense ones has experts; without shared ones there is no width of them."""
    must(config, "moe_layer_freq", (1, None), "experts are only known in every layer after the leading dense ones")
    return {} if fields.get("shared_experts") else {"shared_ffn": 0}


V2 = Family(
    name="deepseek_v2",
    keys=KEYS,
    defaults={
        **LATENT,
        "experts": 64,
        "expert_ffn": 1407,
        "shared_experts": 2,
        "shared_ffn": 1407,
        "dense_layers": 0,
    },
    always={"router_in_32_bits": True},
    finish=regular_experts,
    source=f"{VERSION}, DeepseekV2Config",
)
V3 = Family(
    name="deepseek_v3",
    aliases=("kimi_k2",),
    keys=KEYS,
    defaults={
        **LATENT,
        "experts": 256,
        "experts_per_token": 8,
        "expert_ffn": 2048,
        "shared_experts": 1,
        "shared_ffn": 2048,
        "dense_layers": 3,
    },
    always={"router_bias": True, "router_in_32_bits": True},
    finish=regular_experts,
    left_out=FURTHER,
    source=f"{VERSION}, DeepseekV3Config",
)
KIMI_K25 = Family(
    name="kimi_k25",
    inside="text_config",
    language="kimi_k2",
    left_out=VISION,
    source="moonshotai/Kimi-K2.5 config.json",
)


@hookimpl
def alignsim_families() -> Iterator[Family]:
    """Offer them."""
    yield from (V2, V3, KIMI_K25)
