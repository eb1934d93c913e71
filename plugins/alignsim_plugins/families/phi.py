"""Phi of Microsoft."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from alignsim import Family, hookimpl
from alignsim.fields import Fields
from alignsim_plugins.families.usual import ATTENTION_BIAS, BIASED, LAYER_NORM, USUAL, VERSION, must, window_of

KEYS = {field: key for field, key in USUAL.items() if field != "head_dim"}


def _phi(config: Fields, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    must(config, "qk_layernorm", (False, None), "Phi with normalised queries and keys is not known here")
    return {}


PHI = Family(
    name="phi",
    keys=KEYS,
    always={"written_out_gelu": True, "head_bias": True, "norms": 1, "parallel": True, **BIASED},
    finish=_phi,
    source=f"{VERSION}, PhiConfig and PhiDecoderLayer",
)
PHI3 = Family(
    name="phi3",
    keys=KEYS,
    always={"fused_qkv": True},
    finish=window_of(),
    source=f"{VERSION}, Phi3Config and Phi3Attention",
)
PHIMOE = Family(
    name="phimoe",
    keys={
        **{field: key for field, key in KEYS.items() if field != "ffn"},
        **ATTENTION_BIAS,
        "head_bias": "lm_head_bias",
        "expert_ffn": "intermediate_size",
        "experts": "num_local_experts",
        "experts_per_token": "num_experts_per_tok",
    },
    defaults={"kv_heads": 8, "experts": 16, "experts_per_token": 2},
    always=LAYER_NORM,
    finish=window_of(),
    source=f"{VERSION}, PhimoeConfig and PhimoeDecoderLayer",
)


@hookimpl
def alignsim_families() -> Iterator[Family]:
    """Offer them."""
    yield from (PHI, PHI3, PHIMOE)
