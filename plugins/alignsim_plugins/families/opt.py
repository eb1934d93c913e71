"""OPT of Meta."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from alignsim import Family, hookimpl
from alignsim.fields import Fields
from alignsim_plugins.families.usual import BIASED, USUAL, VERSION, must


def _opt(config: Fields, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Positions have rows of their own, two of them unused; other widths and orders (OPT-350M) are not known."""
    hidden = fields["hidden"]
    must(config, "word_embed_proj_dim", (hidden, None), f"an embedding is only known as wide as hidden_size, {hidden}")
    for key in ("do_layer_norm_before", "enable_bias", "layer_norm_elementwise_affine"):
        must(config, key, (True,), "OPT without it is not known here")
    must(config, "_remove_final_layer_norm", (False,), "OPT without its last norm is not known here")
    return {"learned_positions": fields.get("max_positions", 0) + 2}


OPT = Family(
    name="opt",
    keys={**{f: k for f, k in USUAL.items() if f not in ("kv_heads", "head_dim")}, "ffn": "ffn_dim"},
    defaults={"max_positions": 2048, "tied": True},
    always={"relu": True, **BIASED},
    finish=_opt,
    source=f"{VERSION}, OPTConfig and OPTDecoder",
)


@hookimpl
def alignsim_families() -> Iterator[Family]:
    """Offer it."""
    yield OPT
