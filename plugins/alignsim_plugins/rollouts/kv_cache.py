"""Keys and values kept for the tokens of a rollout."""

from __future__ import annotations

from typing import Any

from alignsim import maths
from alignsim.hookspecs import hookimpl
from alignsim.term import Term, term


@term("", per={"model"}, source="Ainslie et al. 2023 (GQA), sec. 2; DeepSeek-AI 2024 (DeepSeek-V2), table 1")
def kv_elements_per_token(kv_heads: Any, head_dim: Any, kv_lora_rank: Any, qk_rope_head_dim: Any) -> Any:
    """Numbers that one layer caches for one token: a key and a value a head, or one latent and one rotary key."""
    return maths.where(kv_lora_rank > 0, kv_lora_rank + qk_rope_head_dim, 2 * kv_heads * head_dim)


@term("byte", per={"role"}, source="Kwon et al. 2023 (PagedAttention), sec. 3")
def kv_cache(
    layers: Any, kv_elements_per_token: Any, kv_bytes: Any, rollout_tokens: Any, rollout_sequences: Any
) -> Any:
    """The cache of whole sequences in all layers of a whole model, before anything is divided over devices."""
    return layers * kv_elements_per_token * kv_bytes * rollout_tokens * rollout_sequences


@hookimpl
def alignsim_terms(algorithm: Any) -> list[Term]:
    """Offer the size of a cached token to every algorithm; ``kv_cache`` is for those who have rollouts."""
    return [kv_elements_per_token]
