"""Llama of Meta, and what is built like it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from alignsim import Family, hookimpl
from alignsim.fields import Fields
from alignsim_plugins.families.usual import ATTENTION_BIAS, USUAL, VERSION, VISION, looking_back, switched_window

LLAMA = Family(
    name="llama",
    keys={**USUAL, **ATTENTION_BIAS, "mlp_bias": "mlp_bias"},
    source=f"{VERSION}, LlamaConfig",
)
SMOLLM3 = Family(
    name="smollm3",
    keys={**USUAL, **ATTENTION_BIAS, "mlp_bias": "mlp_bias"},
    defaults={"kv_heads": 4, "tied": True},
    finish=switched_window,
    source=f"{VERSION}, SmolLM3Config",
)


def _llama4(config: Fields, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Experts in every so-manieth layer; three layers of four look back, or those that a list says."""
    listed = config.data.get("moe_layers")
    step, layers = fields["expert_every"], fields["layers"]
    if listed is not None and step and listed != list(range(step - 1, layers, step)):
        raise config.wrong("moe_layers", f"experts are only known in a regular pattern, here in every {step}. layer")
    positions = config.data.get("no_rope_layers") or [int((index + 1) % 4 != 0) for index in range(min(layers, 10**6))]
    if not isinstance(positions, list) or len(positions) != layers or not set(map(str, positions)) <= {"0", "1"}:
        raise config.wrong("no_rope_layers", f"expected a 0 or a 1 for each of {layers} layers")
    return looking_back(config, fields, config.data.get("attention_chunk_size", 8192), sum(positions))


LLAMA4_TEXT = Family(
    name="llama4_text",
    keys={
        **USUAL,
        **ATTENTION_BIAS,
        "ffn": "intermediate_size_mlp",
        "experts": "num_local_experts",
        "experts_per_token": "num_experts_per_tok",
        "expert_ffn": "intermediate_size",
        "shared_ffn": "intermediate_size",
        "expert_every": "interleave_moe_layer_step",
    },
    defaults={
        "layers": 48,
        "hidden": 5120,
        "heads": 40,
        "kv_heads": 8,
        "head_dim": 128,
        "ffn": 16384,
        "vocab": 202048,
        "max_positions": 131072,
        "experts": 16,
        "experts_per_token": 1,
        "expert_ffn": 8192,
        "shared_ffn": 8192,
        "expert_every": 1,
    },
    always={"shared_experts": 1},
    finish=_llama4,
    source=f"{VERSION}, Llama4TextConfig",
)
LLAMA4 = Family(
    name="llama4",
    inside="text_config",
    language="llama4_text",
    defaults={"tied": False},
    left_out=VISION,
    source=f"{VERSION}, Llama4Config",
)


@hookimpl
def alignsim_families() -> Iterator[Family]:
    """Offer Llama up to 4, and SmolLM3."""
    yield from (LLAMA, LLAMA4, LLAMA4_TEXT, SMOLLM3)
