"""Falcon of TII with parallel attention and rotary positions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from alignsim import Family, hookimpl
from alignsim.fields import Fields
from alignsim_plugins.families.gpt import four_times
from alignsim_plugins.families.usual import LAYER_NORM, VERSION, must


def _falcon(config: Fields, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """One key and value head with ``multi_query``; Falcon of the new decoder has groups, and other norms."""
    must(config, "new_decoder_architecture", (False, None), "only Falcon of the first kind is known here, as Falcon-7B")
    must(config, "alibi", (False, None), "positions by ALiBi are not known here")
    must(config, "parallel_attn", (True, None), "Falcon with attention before the MLP is not known here")
    if config.data.get("multi_query") is None or config.flag("multi_query"):
        return {**four_times(config, fields), "kv_heads": 1}
    grouped = config.data.get("num_kv_heads") is not None
    return {**four_times(config, fields), "kv_heads": config.count("num_kv_heads", 1) if grouped else fields["heads"]}


FALCON = Family(
    name="falcon",
    keys={
        "layers": ("num_hidden_layers", "n_layer"),
        "hidden": "hidden_size",
        "heads": ("num_attention_heads", "n_head"),
        "ffn": "ffn_hidden_size",
        "vocab": "vocab_size",
        "max_positions": "max_position_embeddings",
        "tied": "tie_word_embeddings",
        "qkv_bias": "bias",
        "output_bias": "bias",
        "mlp_bias": "bias",
    },
    defaults={"max_positions": 2048, "tied": True},
    always={"narrow_softmax": True, "norms": 1, "parallel": True, "gated": False, **LAYER_NORM},
    finish=_falcon,
    source=f"{VERSION}, FalconConfig and FalconDecoderLayer",
)


@hookimpl
def alignsim_families() -> Iterator[Family]:
    """Offer it."""
    yield FALCON
