"""Hugging Face's table of cache sizes of Llama 3.1, to the printed digits."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import attrs
import pytest

from alignsim import Batch, Scenario, default_registry

FIGURES = json.loads(Path(__file__).with_name("figures.json").read_text(encoding="utf-8"))
KV_HEADS_AT_RELEASE = {"Llama-3.1-405B": 16}  # the checkpoint of the table had 16; the current one has 8


@pytest.mark.parametrize("rollout", ["transformers-cache", "full-cache"])
@pytest.mark.parametrize("row", FIGURES["rows"], ids=lambda row: f"{row['model']}-{row['tokens']}")
def test_to_the_printed_digits(row: Any, rollout: str):
    model = default_registry().architectures[row["model"]]
    algorithm: Any = "Generation"
    components: Any = {"precision": "bf16", "engine": "single-device", "rollout": rollout}
    run = Scenario(
        algorithm=algorithm,
        models={"policy": attrs.evolve(model, kv_heads=KV_HEADS_AT_RELEASE.get(model.name, model.kv_heads))},
        components=components,
        batch=Batch(rollout_sequences=1, rollout_tokens=row["tokens"], prompt_tokens=row["tokens"]),
    )
    printed = Decimal(row["printed"])
    half_a_digit = Decimal(1).scaleb(int(printed.as_tuple().exponent)) / 2
    assert abs(Decimal(run.result.value("policy.kv_cache")) / 2**30 - printed) <= half_a_digit
