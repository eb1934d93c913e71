"""Mistral and Mixtral of Mistral AI."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Family, hookimpl
from alignsim_plugins.families.usual import USUAL, VERSION, window_of

MISTRAL = Family(
    name="mistral",
    keys=USUAL,
    defaults={"kv_heads": 8},
    finish=window_of(silent=4096),
    source=f"{VERSION}, MistralConfig",
)
MIXTRAL = Family(
    name="mixtral",
    keys={
        **{field: key for field, key in USUAL.items() if field != "ffn"},
        "expert_ffn": "intermediate_size",
        "experts": "num_local_experts",
        "experts_per_token": "num_experts_per_tok",
    },
    defaults={"kv_heads": 8, "experts": 8, "experts_per_token": 2},
    finish=window_of(),
    source=f"{VERSION}, MixtralConfig",
)


@hookimpl
def alignsim_families() -> Iterator[Family]:
    """Offer both."""
    yield from (MISTRAL, MIXTRAL)
