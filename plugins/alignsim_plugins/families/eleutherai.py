"""GPT-NeoX (and Pythia) and GPT-J of EleutherAI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from alignsim import Family, hookimpl
from alignsim.fields import Fields
from alignsim_plugins.families.gpt import SHORT, four_times
from alignsim_plugins.families.usual import ATTENTION_BIAS, LAYER_NORM, USUAL, VERSION


def _gpt_neox(config: Fields, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Attention and MLP read the same input, unless the file says otherwise."""
    key = "use_parallel_residual"
    return {"parallel": config.flag(key) if config.data.get(key) is not None else True}


GPT_NEOX = Family(
    name="gpt_neox",
    keys={**{field: key for field, key in USUAL.items() if field not in ("kv_heads", "head_dim")}, **ATTENTION_BIAS},
    defaults={"qkv_bias": True, "output_bias": True},
    always={"fused_qkv": True, "mlp_bias": True, "gated": False, **LAYER_NORM},
    finish=_gpt_neox,
    source=f"{VERSION}, GPTNeoXConfig and GPTNeoXLayer",
)
GPTJ = Family(
    name="gptj",
    keys=SHORT,
    defaults={"max_positions": 2048},
    always={
        "written_out_gelu": True,
        "norms": 1,
        "parallel": True,
        "mlp_bias": True,
        "head_bias": True,
        "gated": False,
        **LAYER_NORM,
    },
    finish=four_times,
    source=f"{VERSION}, GPTJConfig and GPTJBlock",
)


@hookimpl
def alignsim_families() -> Iterator[Family]:
    """Offer both."""
    yield from (GPT_NEOX, GPTJ)
