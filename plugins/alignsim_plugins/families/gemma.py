"""Gemma of Google."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from alignsim import Family, hookimpl
from alignsim.fields import Fields
from alignsim_plugins.families.usual import ATTENTION_BIAS, USUAL, VERSION, VISION, looking_back

KEYS = {**USUAL, **ATTENTION_BIAS}


def _every_second(config: Fields, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Every second layer looks everywhere; scores and logits are kept within bounds, unless their bound is null."""
    layers = fields["layers"]
    return {
        "caps_scores": config.data.get("attn_logit_softcapping", 50.0) is not None,
        "caps_logits": config.data.get("final_logit_softcapping", 30.0) is not None,
        **looking_back(config, fields, config.data.get("sliding_window", 4096), layers - layers // 2),
    }


def _every_sixth(config: Fields, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Every sixth layer looks everywhere, unless the file has another pattern."""
    every = config.count("sliding_window_pattern", least=1) if "sliding_window_pattern" in config.data else 6
    layers = fields["layers"]
    return looking_back(config, fields, config.data.get("sliding_window", 4096), layers - layers // every)


GEMMA = Family(
    name="gemma",
    keys=KEYS,
    defaults={"kv_heads": 16, "head_dim": 256, "tied": True},
    always={"scales_in_32_bits": True},
    source=f"{VERSION}, GemmaConfig",
)
GEMMA2 = Family(
    name="gemma2",
    keys=KEYS,
    defaults={"kv_heads": 4, "head_dim": 256, "tied": True},
    always={"norms": 4, "scales_in_32_bits": True},
    finish=_every_second,
    source=f"{VERSION}, Gemma2Config and Gemma2DecoderLayer",
)
GEMMA3_TEXT = Family(
    name="gemma3_text",
    keys=KEYS,
    defaults={
        "layers": 26,
        "hidden": 2304,
        "heads": 8,
        "kv_heads": 4,
        "head_dim": 256,
        "ffn": 9216,
        "vocab": 262208,
        "max_positions": 131072,
        "tied": True,
    },
    always={"norms": 4, "qk_norm": True, "scales_in_32_bits": True},
    finish=_every_sixth,
    source=f"{VERSION}, Gemma3TextConfig and Gemma3DecoderLayer",
)
GEMMA3 = Family(
    name="gemma3",
    inside="text_config",
    language="gemma3_text",
    defaults={"tied": True},
    left_out=VISION,
    source=f"{VERSION}, Gemma3Config",
)


@hookimpl
def alignsim_families() -> Iterator[Family]:
    """Offer Gemma 1 to 3; of those that see, the language model."""
    yield from (GEMMA, GEMMA2, GEMMA3, GEMMA3_TEXT)
