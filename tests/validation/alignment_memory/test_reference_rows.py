"""The reference case's figures, row by row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from alignsim import Architecture, InvalidInput
from alignsim_plugins.scenarios.alignment_memory import AlignmentMemoryScenario

TABLE = json.loads((Path(__file__).parent / "rows.json").read_text(encoding="utf-8"))
ROWS = {row["id"]: row for row in TABLE["rows"]}
REFUSED = ("27-float-boundary-GB", "28-missing-dims")
BYTES = (
    "policy_state",
    "reference_weights",
    "reward_weights",
    "value_state",
    "ppo_total",
    "dpo_total",
    "policy_per_device",
    "reference_per_device",
    "kv_cache",
    "kv_per_device",
)


def scenario(row, **changes):
    fields: dict[str, Any] = {k: v for k, v in row.items() if k not in ("id", "result")} | changes
    for role in ("policy", "critic"):
        if isinstance(fields[role], dict):
            fields[role] = Architecture(source=TABLE["source"], **fields[role])
    return AlignmentMemoryScenario(**fields)


def check(result, wanted):
    for name in BYTES:
        value = getattr(result, name).m_as("byte")
        assert value == wanted[name], name
        assert type(value) is type(wanted[name]), name
    assert result.dpo_reduction == pytest.approx(wanted["dpo_reduction"], rel=1e-12, abs=0)
    assert result.model_parallel_devices == wanted["model_parallel_devices"]
    assert result.min_devices_for_ppo == wanted["min_devices_for_ppo"]


def test_the_table_is_whole():
    assert TABLE["source"] == "mlsysim 0.3.0"
    assert len(ROWS) == 28
    assert set(REFUSED) < set(ROWS)


@pytest.mark.parametrize("row", [row for name, row in ROWS.items() if name not in REFUSED], ids=lambda row: row["id"])
def test_row(row):
    check(scenario(row).result, row["result"])


def test_eight_tensor_ranks_need_eight_heads():
    row = ROWS["27-float-boundary-GB"]
    with pytest.raises(
        InvalidInput, match=r"AlignmentMemoryScenario.tp_size: must be at most 1, the heads of 40B; got 8"
    ):
        scenario(row)
    possible = {role: row[role] | {"heads": 8} for role in ("policy", "critic")}
    check(scenario(row, **possible).result, row["result"])


def test_a_model_without_heads_is_nobodys():
    row = ROWS["28-missing-dims"]
    with pytest.raises(InvalidInput) as caught:
        scenario(row)
    assert [str(p) for p in caught.value.problems] == [
        "Architecture.hidden: is required",
        "Architecture.heads: is required",
    ]
