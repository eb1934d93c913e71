"""OLMo of Ai2."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Family, hookimpl
from alignsim_plugins.families.usual import ATTENTION_BIAS, USUAL, VERSION

KEYS = {**{field: key for field, key in USUAL.items() if field != "head_dim"}, **ATTENTION_BIAS}
OLMO = Family(
    name="olmo",
    keys=KEYS,
    always={"rms_norm": False, "norm_weight": False, "norm_in_32_bits": True},
    source=f"{VERSION}, OlmoConfig and OlmoLayerNorm",
)
OLMO2 = Family(
    name="olmo2",
    keys=KEYS,
    always={"qk_norm_full": True, "scales_in_32_bits": True},
    source=f"{VERSION}, Olmo2Config and Olmo2Attention",
)
OLMOE = Family(
    name="olmoe",
    keys={
        **{field: key for field, key in KEYS.items() if field != "ffn"},
        "expert_ffn": "intermediate_size",
        "experts": "num_experts",
        "experts_per_token": "num_experts_per_tok",
    },
    defaults={"experts": 64, "experts_per_token": 8},
    always={"qk_norm_full": True},
    source=f"{VERSION}, OlmoeConfig and OlmoeAttention",
)


@hookimpl
def alignsim_families() -> Iterator[Family]:
    """Offer them."""
    yield from (OLMO, OLMO2, OLMOE)
