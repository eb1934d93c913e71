"""Command R of Cohere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from alignsim import Family, hookimpl
from alignsim.fields import Fields
from alignsim_plugins.families.usual import ATTENTION_BIAS, USUAL, VERSION, must


def _cohere(config: Fields, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    must(config, "use_qk_norm", (False, None), "Cohere with normalised queries and keys is not known here")
    return {}


COHERE = Family(
    name="cohere",
    keys={**{field: key for field, key in USUAL.items() if field != "head_dim"}, **ATTENTION_BIAS},
    defaults={"tied": True},
    always={"rms_norm": False, "written_out_norm": True, "norms": 1, "parallel": True},
    finish=_cohere,
    source=f"{VERSION}, CohereConfig and CohereDecoderLayer",
)


@hookimpl
def alignsim_families() -> Iterator[Family]:
    """Offer it."""
    yield COHERE
