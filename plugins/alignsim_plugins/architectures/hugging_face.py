"""A model's shape from its ``config.json``, as transformers spells it.

Defaults are those of transformers 5.24: what a file leaves out has the value of the family's configuration class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alignsim import Architecture, InvalidInput, Problem
from alignsim.errors import suggestion

LAYER_NORM = {"rms_norm": False, "norm_bias": True}
BIASED = {"qkv_bias": True, "output_bias": True, "mlp_bias": True, "gated": False, **LAYER_NORM}
FAMILIES: Mapping[str, Mapping[str, Any]] = {
    "cohere": {"rms_norm": False, "written_out_norm": True, "norms": 1, "parallel": True, "tied": True},
    "gemma": {"head_dim": 256, "tied": True, "scales_in_32_bits": True},
    "gemma2": {
        "head_dim": 256,
        "kv_heads": 4,
        "tied": True,
        "norms": 4,
        "scales_in_32_bits": True,
        "caps_scores": True,
        "caps_logits": True,
    },
    "gemma3_text": {
        "head_dim": 256,
        "kv_heads": 4,
        "tied": True,
        "norms": 4,
        "qk_norm": True,
        "scales_in_32_bits": True,
    },
    "glm4": {"head_dim": 128, "kv_heads": 2, "norms": 4},
    "gpt2": {"tied": True, "written_out_gelu": True, "narrow_softmax": True, **BIASED},
    "gpt_neox": {"parallel": True, "fused_qkv": True, **BIASED},
    "llama": {},
    "mistral": {"kv_heads": 8},
    "mixtral": {"kv_heads": 8},
    "olmo": {"rms_norm": False, "norm_weight": False, "norm_in_32_bits": True},
    "olmo2": {"qk_norm_full": True, "scales_in_32_bits": True},
    "olmoe": {"qk_norm_full": True},
    "opt": {"tied": True, "relu": True, **BIASED},
    "phi": {"written_out_gelu": True, "head_bias": True, "norms": 1, "parallel": True, **BIASED},
    "phi3": {"fused_qkv": True},
    "qwen2": {"qkv_bias": True},
    "qwen2_moe": {"qkv_bias": True, "shared_experts": 1, "shared_gate": True},
    "qwen3": {"head_dim": 128, "qk_norm": True},
    "qwen3_moe": {"kv_heads": 4, "qk_norm": True},
    "smollm3": {"kv_heads": 4, "tied": True},
}
"""What a model of a family has where its file is silent: the defaults of its class in transformers 5.24."""

SPELLINGS = {
    "layers": ("num_hidden_layers", "n_layer"),
    "hidden": ("hidden_size", "n_embd"),
    "heads": ("num_attention_heads", "n_head"),
    "kv_heads": ("num_key_value_heads",),
    "head_dim": ("head_dim",),
    "ffn": ("intermediate_size", "ffn_dim", "n_inner"),
    "vocab": ("vocab_size",),
    "max_positions": ("max_position_embeddings", "n_positions"),
    "tied": ("tie_word_embeddings",),
    "qkv_bias": ("attention_bias",),
    "mlp_bias": ("mlp_bias",),
    "experts": ("num_experts", "num_local_experts"),
    "experts_per_token": ("num_experts_per_tok",),
    "expert_ffn": ("moe_intermediate_size",),
    "shared_ffn": ("shared_expert_intermediate_size",),
    "expert_every": ("decoder_sparse_step",),
}
"""A field of an architecture, and the keys that it has in files."""

BIAS_OF_OUTPUT = frozenset({"llama", "gemma", "gemma2", "gemma3_text", "cohere", "olmo", "olmo2", "olmoe", "qwen3"})
"""Families whose ``attention_bias`` is of the projection out of attention too."""

BELOW_EXPERTS = frozenset({"mixtral", "olmoe"})
"""Families whose ``intermediate_size`` is an expert's."""

WINDOWED = frozenset({"mistral", "mixtral", "phi3", "gemma2", "gemma3_text"})


def from_config(config: Mapping[str, Any], *, name: str = "", source: str = "config.json") -> Architecture:
    """Return the shape that a configuration describes.

    >>> from_config(
    ...     {
    ...         "model_type": "llama",
    ...         "num_hidden_layers": 2,
    ...         "hidden_size": 64,
    ...         "num_attention_heads": 4,
    ...         "intermediate_size": 128,
    ...         "vocab_size": 1000,
    ...     },
    ...     name="tiny",
    ... ).kv_heads
    4

    Raises:
        InvalidInput: a family that is not known here, or a configuration that lacks something.
    """
    family = str(config.get("model_type", ""))
    if family not in FAMILIES:
        hint = suggestion(family, FAMILIES)
        raise InvalidInput(Problem("model_type", f"no shape is known of family {family!r}; {hint}"))
    if config.get("mlp_only_layers"):
        raise InvalidInput(Problem("mlp_only_layers", "layers without experts are only known in a regular pattern"))
    fields: dict[str, Any] = dict(FAMILIES[family])
    for field, keys in SPELLINGS.items():
        found = [config[key] for key in keys if config.get(key) is not None]
        if found:
            fields[field] = found[0]
    if fields.get("qkv_bias") and config.get("attention_bias") and family in BIAS_OF_OUTPUT:
        fields["output_bias"] = True
    if family in BELOW_EXPERTS:
        fields["expert_ffn"] = fields.pop("ffn", 0)
    elif fields.get("experts") and fields.get("expert_every", 1) == 1:
        fields["ffn"] = 0
    if not fields.get("ffn") and not fields.get("experts") and "hidden" in fields:
        fields["ffn"] = 4 * fields["hidden"]
    if not fields.get("experts"):
        for field in ("experts_per_token", "expert_ffn", "expert_every", "shared_ffn"):
            fields.pop(field, None)
    if family in ("gpt2", "opt"):
        fields["learned_positions"] = fields.get("max_positions", 0) + (2 if family == "opt" else 0)
    if family == "opt":
        fields.update(norms=2)
    fields.update(_window(family, config, fields))
    return Architecture(name=name or family, source=source, **fields)


def _window(family: str, config: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, int]:
    window, layers = config.get("sliding_window"), fields.get("layers", 0)
    if not isinstance(layers, int) or (window and not isinstance(window, int)):
        return {}  # refused as what it is
    if family not in WINDOWED or not window or window >= fields.get("max_positions", window + 1):
        return {}
    kinds = config.get("layer_types")
    if kinds:
        return {"window": window, "window_layers": sum(kind == "sliding_attention" for kind in kinds)}
    every = {"gemma2": 2, "gemma3_text": config.get("sliding_window_pattern", 6)}.get(family)
    return {"window": window, "window_layers": layers - layers // every if every else layers}
