"""GPT-2 and gpt-oss of OpenAI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from alignsim import Family, hookimpl
from alignsim.fields import Fields
from alignsim_plugins.families.usual import ATTENTION_BIAS, BIASED, USUAL, VERSION, looking_back, must

SHORT = {
    "layers": ("n_layer", "num_hidden_layers"),
    "hidden": ("n_embd", "hidden_size"),
    "heads": ("n_head", "num_attention_heads"),
    "ffn": "n_inner",
    "vocab": "vocab_size",
    "max_positions": ("n_positions", "max_position_embeddings"),
    "tied": "tie_word_embeddings",
}
"""The keys of GPT-2's files, and of those that were made after it."""


def four_times(config: Fields, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The MLP is four times as wide as the rest where the file does not say."""
    return {} if fields.get("ffn") else {"ffn": 4 * fields["hidden"]}


def _gpt2(config: Fields, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """A position has a row of its own."""
    must(config, "add_cross_attention", (False, None), "attention to an encoder is not known here")
    return {**four_times(config, fields), "learned_positions": fields.get("max_positions", 0)}


def _gpt_oss(config: Fields, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Every second layer looks everywhere."""
    layers = fields["layers"]
    return looking_back(config, fields, config.data.get("sliding_window", 128), layers - layers // 2)


GPT2 = Family(
    name="gpt2",
    keys=SHORT,
    defaults={"max_positions": 1024, "tied": True},
    always={"written_out_gelu": True, "narrow_softmax": True, **BIASED},
    finish=_gpt2,
    source=f"{VERSION}, GPT2Config and GPT2Model",
)
GPT_OSS = Family(
    name="gpt_oss",
    keys={
        **{field: key for field, key in USUAL.items() if field != "ffn"},
        **ATTENTION_BIAS,
        "experts": ("num_local_experts", "num_experts"),
        "experts_per_token": ("num_experts_per_tok", "experts_per_token"),
        "expert_ffn": "intermediate_size",
    },
    defaults={
        "kv_heads": 8,
        "head_dim": 64,
        "qkv_bias": True,
        "output_bias": True,
        "experts": 128,
        "experts_per_token": 4,
    },
    always={"attention_sinks": True, "expert_bias": True, "router_bias": True},
    finish=_gpt_oss,
    source=f"{VERSION}, GptOssConfig and GptOssAttention",
)


@hookimpl
def alignsim_families() -> Iterator[Family]:
    """Offer both."""
    yield from (GPT2, GPT_OSS)
