"""MiniMax M2: experts in every layer, queries and keys normalised over all heads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from alignsim import Family, hookimpl
from alignsim.fields import Fields
from alignsim_plugins.families.usual import USUAL, VERSION, must


def _minimax(config: Fields, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    must(config, "use_qk_norm", (True, None), "MiniMax without normalised queries and keys is not known here")
    must(config, "shared_intermediate_size", (0, None), "MiniMax with shared experts is not known here")
    kinds = config.data.get("attn_type_list")
    if kinds is not None and (not isinstance(kinds, list) or any(kind != 1 for kind in kinds)):
        raise config.wrong("attn_type_list", "layers of linear attention are not known here; 1 is full attention")
    return {}


M2 = Family(
    name="minimax_m2",
    keys={
        **{field: key for field, key in USUAL.items() if field != "ffn"},
        "expert_ffn": "intermediate_size",
        "experts": "num_local_experts",
        "experts_per_token": "num_experts_per_tok",
    },
    defaults={"kv_heads": 8, "head_dim": 128, "experts": 256, "experts_per_token": 8},
    always={"qk_norm_full": True, "router_bias": True},
    finish=_minimax,
    left_out={"num_mtp_modules": "modules that predict further tokens (MTP)"},
    source=f"{VERSION}, MiniMaxM2Config and MiniMaxM2Attention",
)


@hookimpl
def alignsim_families() -> Iterator[Family]:
    """Offer it."""
    yield M2
