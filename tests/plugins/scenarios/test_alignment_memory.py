"""The reference case: its inputs, its sweeps, and its way to an ordinary run."""

from __future__ import annotations

import pickle
import random
from typing import Any

import pint
import pytest

from alignsim import InvalidInput, Scenarios, UnknownName, default_registry, grid
from alignsim_plugins.scenarios.alignment_memory import AlignmentMemoryScenario
from alignsim_plugins.scenarios.alignment_memory_terms import PATHS

CASE = Scenarios.Llama2_70B_PpoAlignment
GOOD: dict[str, Any] = {
    "policy": CASE.policy,
    "critic": CASE.critic,
    "tp_size": 8,
    "pp_size": 4,
    "dp_size": 8,
    "rollout_sequences": 256,
    "rollout_tokens": 1024,
    "device_memory": "80 GB",
}
OWN = "AlignmentMemoryScenario"


def problems(**changes):
    values = {name: value for name, value in (GOOD | changes).items() if value is not ...}
    with pytest.raises(InvalidInput) as caught:
        AlignmentMemoryScenario(**values)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        ("tp_size", -8, "must be at least 1, got -8"),
        ("tp_size", 0, "must be at least 1, got 0"),
        ("tp_size", 65, "must be at most 64, the heads of Llama-2-70B-nominal; got 65"),
        ("tp_size", 1.5, "expected a whole number, got 1.5"),
        ("tp_size", "8", "expected a whole number, got '8'"),
        ("tp_size", True, "expected a whole number, got True"),
        ("tp_size", None, "expected a whole number, got None"),
        ("tp_size", ..., "is required"),
        ("pp_size", 0, "must be at least 1, got 0"),
        ("pp_size", 81, "must be at most 80, the layers of Llama-2-70B-nominal; got 81"),
        ("dp_size", 0, "must be at least 1, got 0"),
        ("rollout_sequences", 0, "must be at least 1, got 0"),
        ("rollout_tokens", -1, "must be at least 0, got -1"),
        ("rollout_tokens", float("nan"), "expected a whole number, got nan"),
        ("device_memory", 80, "80 has no unit; write it with one, such as '80 GiB' or '80 GB'"),
        ("device_memory", 80e9, "80000000000.0 has no unit; write it with one, such as '80 GiB' or '80 GB'"),
        (
            "device_memory",
            "80 dollar",
            "expected a quantity of [information] with its unit, such as '80 GiB', got 80 dollar",
        ),
        ("device_memory", "0 GB", "must be more than 0, got 0"),
        ("device_memory", "-80 GB", "must be more than 0, got -8e+10"),
        ("policy", 70e9, "expected one of the architectures, or the name of one; got 70000000000.0"),
        ("policy", ..., "is required"),
        ("critic", ..., "is required"),
    ],
)
def test_a_bad_input_is_named_with_its_value_and_what_is_valid(field, value, wanted):
    (found,) = problems(**{field: value})
    assert found.startswith(f"{OWN}.{field}: ")
    assert found.partition(": ")[2] == wanted


def test_a_misspelt_field():
    assert problems(dp_sise=8) == [f"{OWN}.dp_sise: no such field; did you mean dp_size or tp_size or pp_size?"]


def test_everything_at_once():
    found = problems(tp_size=-8, dp_size=0, device_memory=80, rollout_token=3)
    assert [line.partition(":")[0].partition(".")[2] for line in found] == [
        "rollout_token",
        "tp_size",
        "dp_size",
        "device_memory",
    ]


def test_keywords_only():
    positional: Any = AlignmentMemoryScenario
    with pytest.raises(InvalidInput, match="takes keywords only"):
        positional(CASE.policy, CASE.critic, 8, 4)


def test_a_model_that_is_in_no_catalogue():
    with pytest.raises(UnknownName, match=r"no architecture is named 'Llama-2-70'; did you mean"):
        AlignmentMemoryScenario(**GOOD | {"policy": "Llama-2-70"})


def test_a_name_stands_for_a_catalogue_model():
    case = AlignmentMemoryScenario(**GOOD | {"policy": "Llama-2-70B", "critic": "llama-2-13b"})
    assert case.result.policy_state.m_as("byte") == 16 * 68_976_648_192


def test_memory_is_text_a_quantity_of_any_registry_or_left_open():
    for memory in ("80 GB", 80 * pint.UnitRegistry().GB, "8e10 byte"):
        assert CASE.using(device_memory=memory).result.min_devices_for_ppo == 19
    assert CASE.using(device_memory="80 GiB").result.min_devices_for_ppo == 18
    result = CASE.using(device_memory=None).result
    assert (result.min_devices_for_ppo, result.fits) == (None, None)


def test_the_answer_of_the_seed():
    result = CASE.result
    assert type(result).__name__ == "AlignmentMemoryResult"
    assert result.to_dict() == {
        "schema": "alignsim.alignment-memory/1",
        "scenario": "Llama2_70B_PpoAlignment",
        "policy_state": 1_120_000_000_000,
        "reference_weights": 140_000_000_000,
        "reward_weights": 26_000_000_000,
        "value_state": 208_000_000_000,
        "ppo_total": 1_494_000_000_000,
        "dpo_total": 1_260_000_000_000,
        "dpo_reduction": 234 / 1494,
        "model_parallel_devices": 32,
        "policy_per_device": 35_000_000_000,
        "reference_per_device": 4_375_000_000,
        "kv_cache": 85_899_345_920,
        "kv_per_device": 2_684_354_560,
        "min_devices_for_ppo": 19,
        "devices": 256,
        "fits": True,
    }


def test_thousands_of_rows_are_what_single_answers_are():
    columns = grid(tp_size=[1, 2, 3, 4, 8, 16, 64], pp_size=[1, 2, 7, 80], device_memory=[8e10, 80 * 2**30, 83e9, 1e9])
    swept = CASE.sweep(columns)
    rows = len(swept)
    assert rows == 112
    many = CASE.sweep({name: list(column) * 30 for name, column in columns.items()}, outputs=tuple(PATHS.values()))
    assert len(many) == 3360
    for row in random.Random(0).sample(range(len(many)), 40):
        tp, pp, memory = (columns[name][row % rows] for name in ("tp_size", "pp_size", "device_memory"))
        one = CASE.using(tp_size=int(tp), pp_size=int(pp), device_memory=f"{memory:.0f} B").result.to_dict()
        for name, path in PATHS.items():
            assert many[path][row] == one[name], (name, tp, pp, memory)


def test_one_input_has_one_column():
    with pytest.raises(InvalidInput, match="is tensor, which another column sets already"):
        CASE.sweep(tp_size=[1, 2], tensor=[4, 8])
    with pytest.raises(InvalidInput, match="is tensor, which another column sets already"):
        CASE.sweep({"tp_size": [1, 2]}, tp_size=[4, 8])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "nothing varies"),
        ({"tp_size": []}, "must be a non-empty row of numbers"),
        ({"tp_size": [[1]]}, "not of shape"),
        ({"tp_size": ["8"]}, "cannot be swept over"),
        ({"tp_size": [True]}, "cannot be swept over"),
        ({"tp_size": [float("nan")]}, "not finite"),
        ({"tp_size": [2**53 + 1]}, r"above 2\^53"),
        ({"tp_size": [1, 2], "pp_size": [1, 2, 3]}, "columns differ in length"),
        ({"tp_size": [1, 0]}, "tensor: must be at least 1, got 0"),
        ({"rollout_tokens": [5, -1]}, "must be at least 0, got -1"),
    ],
)
def test_columns_that_make_no_sense(columns, message):
    with pytest.raises(InvalidInput, match=message):
        CASE.sweep(columns)


def test_an_unknown_axis_is_told_of():
    with pytest.raises(UnknownName, match="no input is named 'tp_sise'"):
        CASE.sweep(tp_sise=[1])


def test_explanations_reach_back_to_what_was_stated():
    text = str(CASE.result.explain("policy_state"))
    assert text.startswith("policy.model_state = 1.019 TiB")
    assert "{Llama-2-70B-nominal}.parameters = 70,000,000,000" in text
    with pytest.raises(UnknownName, match="did you mean policy_state"):
        CASE.result.explain("policy_stat")


def test_it_travels_answered_or_not():
    assert pickle.loads(pickle.dumps(CASE)) == CASE
    assert pickle.loads(pickle.dumps(CASE.result)).to_dict() == CASE.result.to_dict()


def test_as_an_ordinary_run_it_has_phases():
    run = CASE.as_run(accelerator="H100-SXM5-80GB")
    per_device = (1_120 + 140 + 26 + 208) * 10**9 / 32
    found = {phase: total.m_as("byte") for phase, total in run.result.phases.items()}
    assert found == {
        "init": per_device,
        "rollout": per_device + 2_684_354_560,
        "score": per_device,
        "update": per_device,
    }
    assert run.result.binding.event.startswith("rollout:policy/")
    dpo = CASE.as_run(algorithm="DPO")
    assert dpo.result.peak.m_as("byte") == 1_260 * 10**9 / 32
    with pytest.raises(UnknownName):
        CASE.as_run(algorithm="DPPO")


def test_the_registry_is_whole():
    assert default_registry().failures == ()
    assert [report for report in default_registry().plugins if report.status != "loaded"] == []
