"""The modelling code of LitGPT: one projection to query, key and value, of which values stay a view.

Queries and keys are copied as they are rotated. Where several query heads share a key, keys and values are repeated
before attention, so that all three are as wide as queries. The GELU is one kernel. The rest keeps what transformers'
layers do, experts and latent attention too; checked with frozen weights of dense models only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, maths, term
from alignsim_plugins.activations.slot import LAYERS
from alignsim_plugins.activations.transformers import TRANSFORMERS

SOURCE = "LitGPT 0.2: litgpt/model.py, CausalSelfAttention, GptNeoxMLP and RMSNorm"


@term("byte/token", per={"role"}, during={"train"}, source=f"{SOURCE}; live storages of it on fake tensors")
def beside_kernel(
    heads: Any,
    kv_heads: Any,
    kv_lora_rank: Any,
    recomputes_core: Any,
    compute_bytes: Any,
    fused_qkv: Any,
    query_width: Any,
    key_width: Any,
) -> Any:
    """Queries and keys that values are a view beside; or keys and values, repeated for every query head."""
    return maths.where(
        (kv_lora_rank > 0) + (recomputes_core > 0) > 0,
        0,
        compute_bytes
        * maths.where(
            kv_heads < heads,
            2 * (query_width - key_width) - fused_qkv * (query_width + key_width),
            (1 - fused_qkv) * (query_width + key_width),
        ),
    )


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def layer_saved(
    norms_saved: Any,
    qk_norms_saved: Any,
    attention_kept: Any,
    beside_kernel: Any,
    mlp_saved: Any,
    adapter_saved: Any,
) -> Any:
    """Norms, attention, MLP and adapters together."""
    return norms_saved + qk_norms_saved + attention_kept + beside_kernel + mlp_saved + adapter_saved


LITGPT = Component(
    name="litgpt",
    slot=LAYERS,
    terms=(beside_kernel, layer_saved, *(term for term in TRANSFORMERS.terms if term.name != layer_saved.name)),
    defaults={"written_out_gelu": Const(0, source=f"{SOURCE}: torch.nn.functional.gelu")},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer the modelling code of LitGPT."""
    yield LITGPT
