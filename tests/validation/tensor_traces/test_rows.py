"""Every phase of every traced step is predicted within 0.05 %."""

import json
from pathlib import Path
from typing import Any

import pytest

from alignsim import InvalidInput, Validation, compare, default_registry
from alignsim_plugins.validation.tensor_traces import cases, predicted, traces
from alignsim_plugins.validation.traced_runs import Trace

FILE = Path(__file__).with_name("rows.json")
DATA = json.loads(FILE.read_text(encoding="utf-8"))
TRACES = {row["key"]: trace for row, trace in zip(DATA["rows"], traces(DATA), strict=True)}


def test_there_are_all_kinds_of_rows():
    kinds = {(t.settings["algo"], t.settings["loss_impl"]) for t in TRACES.values()}
    assert len(TRACES) == 323
    assert len(kinds) == 12
    assert sum(len(t.peaks) for t in TRACES.values()) == 1782


@pytest.mark.parametrize("key", TRACES)
def test_every_phase_is_within_a_two_thousandth(key):
    found = predicted(TRACES[key])
    measured = TRACES[key].peaks
    assert set(measured) <= set(found)
    assert {phase: found[phase] for phase in measured} == pytest.approx(dict(measured), rel=5e-4)


def test_the_command_line_compares_them():
    source = default_registry().validations["tensor-traces"]
    assert isinstance(source, Validation)
    summary = compare(source.cases(DATA)).summary
    assert (summary.rows, summary.refused, summary.phase_right) == (323, 0, 1.0)
    assert (summary.worst_error, summary.worst_phase_error) == pytest.approx((0, 0), abs=5e-4)


ROW = DATA["rows"][0]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"scheme": "fp8"}, r"settings\.scheme: 'fp8' is not modelled"),
        ({"optim": "adamw_fuse"}, "did you mean adamw_fused"),
        ({"algo": "dpo", "loss_impl": "hf"}, r"loss_impl: 'dpo hf' is not modelled"),
        ({"moe_impl": "batched_mm"}, "only known as grouped matrix multiplications"),
        ({"layers": 4}, "the number of layers is the one of arch"),
        ({"algo": "ppo", "loss_impl": "trl_legacy"}, "adapters are not known in 'ppo'"),
        ({"lora": {"r": 8, "dropout": 0.0, "dtype": "bf16", "targets": ["w1"]}}, "no projection 'w1'"),
        ({"algo": "generate", "attn": "eager"}, "whole scores are not modelled"),
        ({"algo": "ppo", "loss_impl": "trl_legacy", "lora": None, "value_model": "llama9-1b"}, "no model 'llama9-1b'"),
        ({"batch": 0}, r"settings\.batch: expected a whole number of at least 1"),
    ],
)
def test_what_is_not_modelled_is_refused_with_the_reason(settings, why):
    trace = Trace(settings={**ROW["settings"], **settings}, arch=ROW["arch"])
    with pytest.raises(InvalidInput, match=why):
        predicted(trace)


def test_a_setting_that_is_missing_is_named():
    settings = {name: value for name, value in ROW["settings"].items() if name != "scheme"}
    with pytest.raises(InvalidInput, match=r"rows\[0\]\.settings\.scheme: is required"):
        predicted(next(traces({"rows": [{**ROW, "settings": settings}]})))


def test_a_family_without_a_shape_is_refused_and_the_others_are_predicted():
    odd = {**ROW, "key": "odd", "arch": {**ROW["arch"], "model_type": "mamba"}}
    comparison = compare(cases({"rows": [ROW, odd]}))
    assert [row.key for row in comparison.rows] == [ROW["key"]]
    assert "model_type: no family of models is known as 'mamba'" in comparison.refused[0].message


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (
            {**ROW, "settings": {**ROW["settings"], "optimm": "sgd"}},
            "settings.optimm: no such field; did you mean opti",
        ),
        (
            {**ROW, "settings": {**ROW["settings"], "lora": {"r": 8, "dropout": 0.0, "dtype": "bf16", "rank": 8}}},
            "settings.lora.rank: no such field",
        ),
        ({**ROW, "settings": {**ROW["settings"], "world": 8}}, "settings.world: no such field"),
        ({**ROW, "settings": {**ROW["settings"], "sharding": "fsdp2", "reshrd": 1}}, "did you mean reshard?"),
        ({name: value for name, value in ROW.items() if name != "peak_bytes"}, "peak_bytes: is required"),
        ({name: value for name, value in ROW.items() if name != "settings"}, "settings: is required"),
        ({**ROW, "phase_peaks": {"forward": None}}, "phase_peaks.forward: expected a number"),
        ("a row", "expected an object with names"),
    ],
)
def test_a_row_that_is_wrong_is_refused_by_itself(row, why):
    row = {**row, "key": "odd"} if isinstance(row, dict) else row
    comparison = compare(cases({"rows": [row, ROW]}))
    assert [known.key for known in comparison.rows] == [ROW["key"]]
    (refusal,) = comparison.refused
    assert refusal.key == ("odd" if isinstance(row, dict) else "rows[0]")
    assert refusal.message.startswith("rows[0]")
    assert why in refusal.message


def test_what_is_no_list_of_rows_is_refused_as_a_whole():
    everything: list[Any] = [{}, {"rows": {}}, []]
    for wrong in everything:
        with pytest.raises(InvalidInput, match=r"rows: (is required|expected a list)|expected an object"):
            compare(cases(wrong))


def test_a_value_model_is_found_however_its_name_is_written():
    settings = {**ROW["settings"], "algo": "ppo", "loss_impl": "trl_legacy", "lora": None}
    alone = predicted(Trace(settings=settings, arch=ROW["arch"]))
    beside = predicted(Trace(settings={**settings, "value_model": "qwen2.5-0.5b"}, arch=ROW["arch"]))
    assert beside["optimizer"] < alone["optimizer"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"phase_peaks": {"zz": 1}}, "phase_peaks.zz: no such phase"),
        ({"phase_peaks": {**ROW["phase_peaks"], "prefill": 1}}, "phase_peaks.prefill: 'sft' has no such phase"),
        ({"peak_phase": "zz"}, "peak_phase: no 'zz' here"),
        ({"peak_bytes": 1}, "measured_peak: is less than one of its own phases has"),
        ({"arch": {}}, "arch: is empty; leave it out"),
        ({"params": -1}, "params: expected an object with names, got -1"),
        ({"params": {"policy": -1}}, "params.policy: expected a whole number of at least 0, got -1"),
        ({"settings": {"algo": "zz"}}, "settings.algo: 'zz' is not modelled"),
        ({"settings": {"prompt": 10**6}}, "settings.prompt: 1000000 tokens are more than the"),
        ({"settings": {"batch": 0}}, "settings.batch: expected a whole number of at least 1"),
        ({"settings": {"lora": {"r": 8, "dropout": 0.0, "dtype": "bf16", "targets": []}}}, "at least one, got []"),
        ({"settings": {"lora": {"r": 10**9, "dropout": 0.0, "dtype": "bf16"}}}, "lora_rank: must be at most"),
        ({"arch": {**ROW["arch"], "num_hidden_layers": -1}}, "num_hidden_layers: must be at least"),
    ],
)
def test_a_row_that_is_wrong_is_refused_at_its_place_and_the_next_is_not(changes, told):
    settings = {**ROW["settings"], **changes.get("settings", {})}
    wrong = {**ROW, **changes, "settings": settings, "key": "wrong"}
    comparison = compare(default_registry().validations["tensor-traces"].cases({"rows": [wrong, ROW]}))
    (refused,) = comparison.refused
    assert told in refused.message
    assert refused.message.startswith(("rows[0]", "wrong.measured_peak"))
    assert [row.key for row in comparison.rows] == [ROW["key"]]
