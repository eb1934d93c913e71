"""Runs as plain data."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from alignsim import InvalidInput, Layout, Place, compare
from alignsim.runfile import cases, scenario_of
from alignsim.validation import Case, Refusal

TOY: dict[str, Any] = {"name": "toy", "layers": 2, "hidden": 64, "heads": 4, "ffn": 128, "vocab": 1000}
SCENARIO: dict[str, Any] = {
    "algorithm": "SFT",
    "models": {"policy": TOY},
    "components": {
        "precision": "bf16",
        "optimizer": "adamw-fused",
        "adapter": "full",
        "recompute": "none",
        "attention": "sdpa",
        "loss": "cross-entropy",
        "engine": "single-device",
        "layers": "transformers",
        "packing": "equal",
    },
    "batch": {"micro_batch": 2, "sequence_tokens": 32},
}


def changed(**fields: Any) -> dict[str, Any]:
    return {**copy.deepcopy(SCENARIO), **fields}


def test_all_fields():
    scenario = scenario_of(
        changed(
            name="mine",
            accelerator="H100-SXM5-80GB",
            layout={"data": 2},
            layouts={"policy": {"data": 4}},
            givens={"policy.weight_bytes": 4, "policy.hidden": 128},
            places={"policy": {"process": "trainer", "pool": "gpus"}},
            resource="allocated",
            solver="peak-memory",
        )
    )
    assert (scenario.name, scenario.layout, scenario.batch.micro_batch) == ("mine", Layout(data=2), 2)
    assert (scenario.layouts["policy"].data, scenario.places["policy"]) == (4, Place())
    assert scenario.givens["policy.weight_bytes"].value == 4
    assert scenario.models["policy"].name == "toy"
    of_pools: Any = scenario_of(changed(accelerator={"gpus": "H100-SXM5-80GB"})).accelerator
    assert of_pools["gpus"].name == "H100-SXM5-80GB"
    assert scenario_of(changed(models={"policy": "Llama-2-7B"})).models["policy"].layers == 32


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ([], "scenario: expected an object with names"),
        ({}, "scenario.algorithm: is required\nscenario.models: is required"),
        (changed(algoritm="SFT"), "scenario.algoritm: no such field; did you mean algorithm"),
        (changed(registry="x"), "scenario.registry: no such field"),
        (changed(algorithm=3), "scenario.algorithm: expected a text, got 3"),
        (changed(algorithm="SFTT"), "no algorithm is named 'SFTT'; did you mean SFT"),
        (changed(models={"policy": "Llama-2-7"}), "did you mean Llama-2-7B"),
        (
            changed(models={"policy": {**TOY, "laiers": 2}}),
            "scenario.models.policy.laiers: no such field; did you mean layers",
        ),
        (changed(models={"policy": {"name": "toy"}}), "scenario.models.policy.layers: is required"),
        (changed(models={"polizy": TOY}), "no such role; did you mean policy"),
        (changed(models={"policy": 3}), "scenario.models.policy: expected an object"),
        (changed(batch={"micro_batch": 0}), "scenario.batch.micro_batch: must be at least 1, got 0"),
        (changed(batch={"microbatch": 1}), "scenario.batch.microbatch: no such field; did you mean micro_batch"),
        (changed(layout={"tensor": "2"}), "scenario.layout.tensor: expected a whole number"),
        (changed(components={"engin": "single-device"}), "no slot is named 'engin'; did you mean engine"),
        (changed(components={"engine": "single"}), "did you mean single-device"),
        (changed(givens={"policy.weight_bytes": True}), "scenario.givens.policy.weight_bytes: expected a number"),
        (changed(givens={"policy.weight_bytes": "4 GiBs"}), "cannot read '4 GiBs'"),
        (changed(places={"policy": {"node": "a"}}), "scenario.places.policy.node: no such field"),
        (changed(accelerator=3), "scenario.accelerator: expected an object"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(data: Any, told: str):
    with pytest.raises(InvalidInput) as error:
        scenario_of(data)
    assert told in str(error.value)


def run(**measured: Any) -> dict[str, Any]:
    return {"runs": [{"key": "mine", "scenario": changed(), "measured": measured}]}


def test_a_run_and_its_measurements():
    instant = "update:policy/optimizer_step"
    result = scenario_of(changed()).result
    step, peak = result.value(f"{instant}.allocated"), result.peak.m_as("byte")
    data = run(peak=f"{peak / 2**20} MiB", phases={"update": peak, instant: step})
    row = compare(cases(data)).rows[0]
    assert (row.key, row.phase, row.measured_phase, row.phase_agrees) == ("mine", "update", "update", True)
    assert row.error == pytest.approx(0, abs=1e-9)
    assert row.phase_errors == {"update": 0.0, instant: 0.0}


def test_instants_are_compared_with_instants():
    components = {"precision": "bf16", "engine": "single-device", "rollout": "transformers-cache"}
    batch = {"rollout_sequences": 2, "rollout_tokens": 64, "prompt_tokens": 8}
    generation = {"algorithm": "Generation", "models": {"policy": TOY}, "components": components, "batch": batch}
    instants = {"generate:policy/prefill": 1, "generate:policy/decode": 2}
    row = compare(cases({"runs": [{"scenario": generation, "measured": {"phases": instants}}]})).rows[0]
    assert (row.phase, row.measured_phase, row.phase_agrees) == (*["generate:policy/decode"] * 2, True)
    assert set(row.phases) == set(instants)


def test_a_peak_is_the_largest_phase_unless_it_is_told():
    stated = {"scenario": changed(), "measured": {"peak": 7}}
    largest, case = cases({"runs": [*run(phases={"update": 5})["runs"], stated]})
    assert isinstance(largest, Case)
    assert isinstance(case, Case)
    assert largest.measured_peak == 5
    assert (case.key, case.measured_peak, case.measured_phase) == ("1: run", 7, None)


def test_a_run_that_makes_no_whole_is_refused_and_listed():
    comparison = compare(cases({"runs": [{"scenario": changed(components={}), "measured": {"peak": 7}}]}))
    assert "engine" in comparison.refused[0].message


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({}, "runs: is required"),
        ({"runs": {}}, "runs: expected a list"),
        ({"run": []}, "run: no such field; did you mean runs"),
        ([], "expected an object with names, got []"),
    ],
)
def test_files_without_runs(data: Any, told: str):
    with pytest.raises(InvalidInput) as error:
        list(cases(data))
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"runs": [{}]}, r"runs[0].scenario: is required"),
        ({"runs": [3]}, "runs[0]: expected an object with names, got 3"),
        ({"runs": [{"scenario": SCENARIO}]}, "runs[0].measured: is required"),
        (run(peak=4, phases={"update": 5}), "runs[0].measured.peak: 4 bytes are less than in its own phases: update 5"),
        (run(), "runs[0].measured.peak: is required, unless there are phases"),
        (run(peek=1), "runs[0].measured.peek: no such field; did you mean peak"),
        (run(peak="61 GB/s"), "runs[0].measured.peak:"),
        (run(peak=[]), "runs[0].measured.peak: expected a number, got []"),
        (run(peak=0), "runs[0].measured.peak: expected more than 0 bytes, got 0"),
        (run(phases={"updat": 1}), "runs[0].measured.phases.updat: no such field; did you mean update"),
        (run(phases={"update": "x"}), "runs[0].measured.phases.update:"),
    ],
)
def test_a_run_that_is_wrong_is_refused_and_the_others_are_not(data: Any, told: str):
    right = {"key": "right", "scenario": changed(), "measured": {"peak": 1}}
    wrong, case = cases({"runs": [*data["runs"], right]})
    assert isinstance(wrong, Refusal)
    assert wrong.wrong
    assert told in wrong.message
    assert case.key == "right"


def test_all_that_is_wrong_with_a_run_is_told():
    (refused,) = cases({"runs": [{"key": "k", "scenario": {}, "measured": {"peek": 1}}]})
    assert isinstance(refused, Refusal)
    assert refused.key == "k"
    told = ("runs[0].scenario.algorithm", "runs[0].scenario.models", "runs[0].measured.peek")
    assert [line.partition(":")[0] for line in refused.message.splitlines()] == list(told)
