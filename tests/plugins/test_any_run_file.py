"""Whatever a run file holds: an answer in finite numbers, or a refusal that names the file. Nothing else, and soon."""

from __future__ import annotations

import json
import os
from math import isfinite
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alignsim import AlignSimError, Batch, Layout, default_registry
from alignsim.runfile import FIELDS, STATED
from alignsim.runs import read_run

REGISTRY = default_registry()
BASE: dict[str, Any] = {
    "algorithm": "DPO",
    "models": {"policy": "Llama-3.2-1B"},
    "accelerator": "H100-SXM5-80GB",
    "components": {
        "engine": "single-device", "precision": "bf16", "optimizer": "adamw-fused", "adapter": "full",
        "loss": "trl-fused", "recompute": "full", "attention": "flash", "packing": "padded", "layers": "transformers",
    },
    "batch": {"micro_batch": 2, "sequence_tokens": 64, "prompt_tokens": 8},
}  # fmt: skip
NUMBERS = st.one_of(
    st.integers(-2, 70), st.floats(), st.booleans(), st.none(), st.text(max_size=6),
    st.sampled_from([2**53, 2**63, 10**30, 1e308, -0.0, 1e-320, "1e999", "80 GiB", "2**9**9 GiB", "1 GB/s", "NaN B"]),
)  # fmt: skip
ANYTHING = st.recursive(
    NUMBERS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
)
NAMES = [
    *REGISTRY.algorithms,
    *list(REGISTRY.architectures)[:5],
    *(key.partition(":")[2] for key in REGISTRY.components),
]
SIZES = [field.name for kind in (Batch, Layout) for field in attrs.fields(kind)]
PATHS = [
    "policy.weight_bytes",
    "policy.hidden",
    "policy.layers",
    "{Llama-3.2-1B}.vocab",
    "x",
    "*",
    "@gpus.usable_memory",
]
INSIDE = st.dictionaries(
    st.sampled_from(["policy", "reference", "engine", "policy.loss", "gpus", "name", *SIZES, *PATHS]),
    NUMBERS | st.sampled_from(NAMES) | ANYTHING,
    max_size=4,
)
CHANGES = st.dictionaries(
    st.sampled_from([*FIELDS, *STATED, "foo"]), INSIDE | st.sampled_from(NAMES) | ANYTHING, max_size=3
)
PUT = st.builds(lambda field, inside: {field: {**BASE.get(field, {}), **inside}}, st.sampled_from(
    ["batch", "layout", "givens", "components", "models"]
), INSIDE)  # fmt: skip
LETTERS = "{}[]\":,#&*!|>%@`'0123456789eE+-.~ \n\tabcnulltrue?<="
HUNT = os.environ.get("ALIGNSIM_HUNT")  # a number of random files of each kind, other ones every time
FILES = settings(
    max_examples=int(HUNT or 80),
    derandomize=HUNT is None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def refusal(path: Path) -> str:
    """What a file is refused with; nothing if it is answered, and then its numbers are sensible."""
    try:
        result = read_run(path, REGISTRY).result
    except AlignSimError as error:
        told = str(error).strip()
    else:
        assert_sensible(result)
        return ""
    assert told
    return told


def short(told: str) -> bool:
    """Whether people can read all lines of a message."""
    return all(len(line) < 2000 for line in told.splitlines())


def assert_sensible(result: Any) -> None:
    assert all(isfinite(end) and end >= 0 for end in result.range)
    assert all(isfinite(total.magnitude) and total.magnitude >= 0 for total in result.instants.values())
    low, expected, high = result.range
    assert low <= expected <= high


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.yaml"


def test_the_run_that_others_are_made_of_is_answered(file: Path) -> None:
    file.write_text(json.dumps(BASE), encoding="utf-8")
    assert not refusal(file)


@FILES
@given(CHANGES | PUT)
def test_runs_with_something_else_in_them(file: Path, changes: dict[str, Any]) -> None:
    file.write_text(json.dumps({**BASE, **changes}), encoding="utf-8")
    assert short(refusal(file))


@FILES
@given(st.binary(max_size=200) | st.text(alphabet=LETTERS, max_size=200).map(str.encode))
def test_bytes(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    told = refusal(file)
    assert told
    assert short(told)


@FILES
@given(ANYTHING)
def test_any_content(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content), encoding="utf-8")
    told = refusal(file)
    assert told
    assert short(told)


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b"- " * 100_000,
        b"{a: " * 50_000,
        b"a: &a [x]\n" + b"b: [*a, *a]\n" * 1000,
        b"? " * 50_000,
        b"a: " + b"9" * 200_000,
        b"a: '" + b"x" * 200_000,
        b"\n".join(b"a%d: 1\na%d: 2" % (n, n) for n in range(5_000)),
        b"!!python/object:os.system x",
        b"x" * 300_000,
    ],
    ids=lambda content: content[:12].decode(),
)
def test_large_and_deep_files_are_refused(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    told = refusal(file)
    assert told
    assert short(told)
