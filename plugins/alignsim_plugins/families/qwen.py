"""Qwen of Alibaba: biases on query, key and value up to 2.5, normalised queries and keys from 3 on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from alignsim import Family, hookimpl
from alignsim.fields import Fields
from alignsim_plugins.families.usual import ATTENTION_BIAS, USUAL, VERSION, VISION, switched_window

EXPERTS = {
    "experts": ("num_experts", "num_local_experts"),
    "experts_per_token": "num_experts_per_tok",
    "expert_ffn": "moe_intermediate_size",
    "expert_every": "decoder_sparse_step",
}


def _mixed(config: Fields, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Layers without experts must be the first ones, for a shape to have them."""
    dense = config.data.get("mlp_only_layers") or []
    found = dict(switched_window(config, fields))
    if not dense:
        return found
    if fields.get("expert_every", 1) != 1 or not isinstance(dense, list) or dense != list(range(len(dense))):
        raise config.wrong("mlp_only_layers", "layers without experts are only known in a regular pattern: first ones")
    return {**found, "dense_layers": len(dense)}


QWEN2 = Family(
    name="qwen2",
    keys=USUAL,
    defaults={"kv_heads": 32},
    always={"qkv_bias": True},
    finish=switched_window,
    source=f"{VERSION}, Qwen2Config and Qwen2Attention",
)
QWEN2_MOE = Family(
    name="qwen2_moe",
    keys={**USUAL, **EXPERTS, "qkv_bias": "qkv_bias", "shared_ffn": "shared_expert_intermediate_size"},
    defaults={
        "kv_heads": 16,
        "qkv_bias": True,
        "experts": 60,
        "experts_per_token": 4,
        "expert_ffn": 1408,
        "expert_every": 1,
        "shared_ffn": 5632,
    },
    always={"shared_experts": 1, "shared_gate": True},
    finish=_mixed,
    source=f"{VERSION}, Qwen2MoeConfig and Qwen2MoeSparseMoeBlock",
)
QWEN3 = Family(
    name="qwen3",
    aliases=("qwen3_vl_text",),
    keys={**USUAL, **ATTENTION_BIAS},
    defaults={"kv_heads": 32, "head_dim": 128},
    always={"qk_norm": True},
    finish=switched_window,
    source=f"{VERSION}, Qwen3Config and Qwen3Attention",
)
QWEN3_MOE = Family(
    name="qwen3_moe",
    keys={**USUAL, **ATTENTION_BIAS, **EXPERTS},
    defaults={"kv_heads": 4, "experts": 128, "experts_per_token": 8, "expert_ffn": 768, "expert_every": 1},
    always={"qk_norm": True},
    finish=_mixed,
    source=f"{VERSION}, Qwen3MoeConfig and Qwen3MoeAttention",
)
QWEN3_VL_MOE_TEXT = Family(
    name="qwen3_vl_moe_text",
    keys={**USUAL, **ATTENTION_BIAS, **EXPERTS},
    defaults={
        "kv_heads": 16,
        "head_dim": 128,
        "experts": 60,
        "experts_per_token": 4,
        "expert_ffn": 1408,
        "expert_every": 1,
    },
    always={"qk_norm": True},
    finish=_mixed,
    source=f"{VERSION}, Qwen3VLMoeTextConfig and Qwen3VLMoeTextAttention",
)
SEEING = tuple(
    Family(
        name=name,
        inside="text_config",
        language=language,
        defaults={"tied": False},
        left_out=VISION,
        source=f"{VERSION}, {configuration}",
    )
    for name, language, configuration in (
        ("qwen3_vl", "qwen3_vl_text", "Qwen3VLConfig"),
        ("qwen3_vl_moe", "qwen3_vl_moe_text", "Qwen3VLMoeConfig"),
    )
)


@hookimpl
def alignsim_families() -> Iterator[Family]:
    """Offer Qwen up to 3, and the language models of Qwen3-VL."""
    yield from (QWEN2, QWEN2_MOE, QWEN3, QWEN3_MOE, QWEN3_VL_MOE_TEXT, *SEEING)
