"""The modelling code of LitGPT: one projection to query, key and value, of which values stay a view.

Queries and keys are copied as they are rotated. Where several query heads share a key, keys and values are repeated
before attention, so that all three are as wide as queries. The GELU is one kernel. The rest keeps what transformers'
layers do; checked with frozen weights only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Limit, hookimpl, maths, term
from alignsim_plugins.activations.slot import LAYERS
from alignsim_plugins.activations.transformers import TRANSFORMERS

SOURCE = "LitGPT 0.2: litgpt/model.py, CausalSelfAttention, GptNeoxMLP and RMSNorm"
EQUAL = "LitGPT 0.2 has it not as here; choose layers 'transformers'"


@term("byte/token", per={"role"}, during={"train"}, source=f"{SOURCE}; live storages of it on fake tensors")
def attention_kept(
    attention_saved: Any,
    compute_bytes: Any,
    heads: Any,
    kv_heads: Any,
    fused_qkv: Any,
    query_width: Any,
    key_width: Any,
) -> Any:
    """What the kernel keeps of keys and values of their own width; and what is beside a view, or repeated."""
    return attention_saved + compute_bytes * maths.where(
        kv_heads < heads,
        2 * (query_width - key_width) - fused_qkv * (query_width + key_width),
        (1 - fused_qkv) * (query_width + key_width),
    )


LITGPT = Component(
    name="litgpt",
    slot=LAYERS,
    terms=(attention_kept, *(term for term in TRANSFORMERS.terms if term.name != attention_kept.name)),
    defaults={"written_out_gelu": Const(0, source=f"{SOURCE}: torch.nn.functional.gelu")},
    limits={
        "experts": Limit(0, because=EQUAL),
        "kv_lora_rank": Limit(0, because=EQUAL),
        "recomputes_core": Limit(0, because="LitGPT recomputes whole layers"),
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer the modelling code of LitGPT."""
    yield LITGPT
