"""Families whose layers no architecture has the numbers for yet, each with what is missing."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Family, hookimpl

LINEAR = "layers of linear attention (Gated DeltaNet) beside those of full attention"
SPARSE = "sparse attention with an indexer that chooses tokens (DSA) has parameters of its own"
COMPRESSED = "attention over compressed tokens, and residual streams that are mixed (hyper-connections)"
MAMBA = "layers of Mamba-2 beside those of attention, in a pattern of their own"
REFUSED = {
    "qwen3_next": LINEAR,
    "qwen3_5": LINEAR,
    "qwen3_5_text": LINEAR,
    "qwen3_5_moe": LINEAR,
    "qwen3_5_moe_text": LINEAR,
    "kimi_linear": "layers of linear attention (KDA) beside those of latent attention",
    "kimi_k3": "layers of linear attention (KDA) beside those of latent attention",
    "deepseek_v32": SPARSE,
    "deepseek_v4": COMPRESSED,
    "deepseek_ref": COMPRESSED,
    "glm_moe_dsa": SPARSE,
    "gemma4": "heads of layers that look everywhere have another width, and their keys serve as values",
    "gemma4_text": "heads of layers that look everywhere have another width, and their keys serve as values",
    "nemotron_h": MAMBA,
    "nemotron-nas": "every layer has a width of its own",
    "minimax_m3": "some layers have sparse attention, with parameters of its own",
    "minimax_m3_vl": "some layers have sparse attention, with parameters of its own",
    "mimo": "transformers 5.24.0 has no class of that name",
    "mimo_v2_flash": "layers that look back have another number of key and value heads than the others",
    "step3p7": "transformers 5.24.0 builds no language model from such a file",
}


@hookimpl
def alignsim_families() -> Iterator[Family]:
    """Offer to say what is missing."""
    for name, why in REFUSED.items():
        yield Family(name=name, refused=why, source="config.json files of the family, as in aiconfigurator-core 0.12.0")
