"""``alignsim validate`` and ``alignsim compare``."""

from __future__ import annotations

import json
from typing import Any

import pytest

SOURCE = """
    from alignsim import Case, InvalidInput, Validation, hookimpl
    from alignsim.fields import Fields

    def refused():
        raise InvalidInput("nobody knows")

    def cases(data):
        for row in Fields(data).each("rows"):
            number = row.number("predicted")
            yield Case(
                key=row.text("key"),
                measured_peak=row.number("peak"),
                measured_phase="update",
                measured_phases={"update": row.number("peak")},
                predict=refused if number < 0 else lambda number=number: {"update": number},
            )

    @hookimpl
    def alignsim_validations():
        yield Validation(name="acme", cases=cases)
"""
ROWS = [{"key": "a", "peak": 2**30, "predicted": 2**30}, {"key": "b", "peak": 100 * 2**30, "predicted": 97 * 2**30}]


@pytest.fixture
def validate(alignsim: Any, plugin_file: Any, tmp_path: Any) -> Any:
    plugin = plugin_file(SOURCE)

    def run(content: Any, *words: str, source: str = "acme") -> Any:
        path = tmp_path / "rows.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return alignsim("validate", "--plugin", plugin, "--source", source, str(path), *words)

    return run


def test_rows_and_summary(validate: Any):
    done = validate({"rows": ROWS})
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[1].split() == ["a", "1.000", "1.000", "+0.000", "%", "update", "update"]
    assert lines[2].split() == ["b", "97.000", "100.000", "-3.000", "%", "update", "update"]
    assert any(line.split() == ["worst", "-3.00", "%", "b"] for line in lines)
    assert any(line.split()[:5] == ["every", "phase", "within", "5", "%"] for line in lines)


def test_as_json(validate: Any):
    told = validate({"rows": ROWS}, "--json").json
    assert told["rows"][1] | {"phases": None} == {
        "key": "b",
        "predicted": 97 * 2**30,
        "measured": 100 * 2**30,
        "error": 0.97 - 1,
        "phase": "update",
        "measured_phase": "update",
        "phases": None,
    }
    assert told["summary"]["rows"] == 2
    assert told["refused"] == []


def test_what_is_refused_is_listed(validate: Any):
    done = validate({"rows": [*ROWS, {"key": "c", "peak": 5, "predicted": -1}]})
    assert done.status == 0
    assert "c    nobody knows" in done.out
    assert "1 refused" in done.out


def test_nothing_that_could_be_predicted_is_no_success(validate: Any):
    done = validate({"rows": [{"key": "c", "peak": 5, "predicted": -1}]})
    assert done.status == 1
    assert "c    nobody knows" in done.out


@pytest.mark.parametrize(("most", "status"), [("5", 0), ("3.1%", 0), ("2", 1)])
def test_the_largest_error(validate: Any, most: str, status: int):
    assert validate({"rows": ROWS}, "--max-error", most).status == status


@pytest.mark.parametrize("most", ["nan", "-1", "inf", "much"])
def test_errors_that_are_no_share(validate: Any, most: str):
    done = validate({"rows": ROWS}, "--max-error", most)
    assert done.status == 2
    assert "is not a share in percent" in done.err


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "rows.json:1:2: is not JSON"),
        ({}, "rows: is required"),
        ({"rows": [{"key": "a"}]}, "rows[0].predicted: is required"),
        ('{"rows": [{"key": "a", "peak": NaN}]}', "rows[0].peak: nan is not a number"),
        ({"rows": [{"key": "a", "peak": 0, "predicted": 1}]}, "a.measured_peak: expected bytes, got 0"),
        ({"rows": []}, "nothing to compare"),
        ([], "expected an object with names, got []"),
    ],
)
def test_files_that_are_wrong(validate: Any, content: Any, told: str):
    done = validate(content)
    assert (done.status, done.out) == (2, "")
    assert told in done.err


def test_sources_and_files_that_are_not_there(validate: Any, alignsim: Any):
    done = validate({"rows": ROWS}, source="acne")
    assert done.status == 3
    assert "no validation is named 'acne'; did you mean acme" in done.err
    assert alignsim("validate", "rows.json").status == 2
    assert alignsim("compare", "none.json", "--json").problems[0]["message"].startswith("cannot be read")


def test_compare_runs(alignsim: Any, tmp_path: Any):
    run = {
        "key": "mine",
        "scenario": {
            "algorithm": "Generation",
            "models": {"policy": "Llama-2-7B"},
            "components": {"precision": "bf16", "engine": "single-device", "rollout": "transformers-cache"},
            "batch": {"rollout_sequences": 16, "rollout_tokens": 2048, "prompt_tokens": 1024},
        },
        "measured": {"peak": 30925931264, "phases": {"generate": 30925931264}},
    }
    path = tmp_path / "runs.json"
    path.write_text(json.dumps({"runs": [run]}), encoding="utf-8")
    done = alignsim("compare", str(path), "--max-error", "0.01")
    assert done.status == 0
    assert done.out.splitlines()[1].split()[:2] == ["mine", "28.801"]
    run["measured"] = {"peak": "40 GiB"}
    path.write_text(json.dumps({"runs": [run]}), encoding="utf-8")
    assert alignsim("compare", str(path), "--max-error", "10").status == 1
    assert alignsim("compare", str(path)).status == 0


SFT = {
    "algorithm": "Generation",
    "models": {"policy": "Llama-2-7B"},
    "components": {"precision": "bf16", "engine": "single-device", "rollout": "transformers-cache"},
    "batch": {"rollout_sequences": 16, "rollout_tokens": 2048, "prompt_tokens": 1024},
}
GOOD = {"key": "good", "scenario": SFT, "measured": {"peak": 30925931264}}


def test_a_run_that_is_wrong_is_refused_by_itself(alignsim: Any, tmp_path: Any):
    wrong = {"key": "bad", "scenario": SFT | {"algorithm": "Generatoin"}, "measured": {"peak": 1}}
    path = tmp_path / "runs.json"
    path.write_text(json.dumps({"runs": [wrong, 3, GOOD]}), encoding="utf-8")
    done = alignsim("compare", str(path))
    assert done.status == 2
    assert "good" in done.out.splitlines()[1]
    assert "runs[0].scenario.algorithm: no algorithm is named 'Generatoin'; did you mean Generation" in done.out
    assert "runs[1]: expected an object with names, got 3" in done.out
    told = alignsim("compare", str(path), "--json").json
    assert [(row["key"], row["wrong"]) for row in told["refused"]] == [("bad", True), ("runs[1]", True)]
    assert [row["key"] for row in told["rows"]] == ["good"]


@pytest.mark.parametrize("words", [("compare",), ("validate", "--source", "tensor-traces")])
@pytest.mark.parametrize("content", ["[]", "{}", '{"rows": 3, "runs": 3}'])
def test_what_is_wrong_with_a_whole_file_names_the_file(alignsim: Any, tmp_path: Any, words: Any, content: str):
    path = tmp_path / "rows.json"
    path.write_text(content, encoding="utf-8")
    done = alignsim(*words, str(path))
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"error: {path}:")
