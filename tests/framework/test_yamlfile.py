"""YAML 1.2 without what has no bound: plain data, each value with its line and column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alignsim import InvalidInput
from alignsim.yamlfile import read_tree, tree_of


def read(tmp_path: Path, text: str | bytes) -> Any:
    path = tmp_path / "run.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_tree(path).sound()


def test_values_are_those_of_yaml_1_2(tmp_path: Path) -> None:
    text = "a: 5e-7\nb: on\nc: no\nd: 1:30\ne: '3'\nf: [1, -2.5, true, null, ~]\ng: 012\nh:\ni: {j: x}\nk: 80 GiB\n"
    assert read(tmp_path, text).content == {
        "a": 5e-7, "b": "on", "c": "no", "d": "1:30", "e": "3", "f": [1, -2.5, True, None, None], "g": 12, "h": None,
        "i": {"j": "x"}, "k": "80 GiB",
    }  # fmt: skip


def test_json_is_yaml(tmp_path: Path) -> None:
    tree = read(tmp_path, '{\n\t"a": {"b": [1, "x"]}\n}')
    assert tree.content == {"a": {"b": [1, "x"]}}
    assert str(tree.origin("a.b[1]")).endswith("run.yaml:2:17")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nb: 2\na: 3\n", "run.yaml:3:1: a: is here twice"),
        ("a: &x [1]\nb: *x\n", "run.yaml:1:4: a: has an anchor or an alias"),
        ("a: !!python/object:os.system x\n", "run.yaml:1:4: a: has a tag"),
        ("a: 1\n---\nb: 2\n", "run.yaml:2:1: has a second document"),
        ("a: .inf\n", "run.yaml:1:4: a: .inf is not a number"),
        ("a: 1e999\n", "run.yaml:1:4: a: 1e999 is not a number"),
        ("a: NaN\n", "a: NaN is not a number"),
        ("a: [1,\nb: }\n", "run.yaml:2:4: is not YAML: "),
        ("a: 1\n\tb: 2\n", "run.yaml:2:1: is not YAML: "),
        ("? [1]\n: 2\n", "expected a name before the colon"),
        ("[" * 17 + "]" * 17, "is nested more than 16 deep"),
        ("[" * 100_000, "is nested more than 16 deep"),
        (b"\xff\xfe", "is not UTF-8 text"),
        ("\x00", "is not YAML"),
        ("a: " + "x" * 300_000, "is larger than 262,144 bytes"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: Any, told: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(tmp_path, text)
    assert told in str(caught.value)


def test_aliases_that_explode_are_not_followed(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    with pytest.raises(InvalidInput, match=r"and \d+ more of the kind"):
        read(tmp_path, "\n".join(lines))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, derandomize=True)
@given(st.text(alphabet="ab:-{}[]\"',#&*!|>%@` \n01.e~?\\", max_size=60).map(str.encode) | st.binary(max_size=40))
def test_any_text_is_data_or_refused(tmp_path: Path, text: bytes) -> None:
    try:
        tree = read(tmp_path, text)
    except InvalidInput as error:
        refused = error
    else:
        assert isinstance(tree.content, dict | list | str | int | float | None)
        return
    assert "run.yaml" in str(refused)


def test_depth_is_told_at_its_place_alone():
    with pytest.raises(InvalidInput) as error:
        tree_of("a: " + "[" * 100, "run.yaml")
    (problem,) = error.value.problems
    assert problem.message == "is nested more than 16 deep"
    assert str(problem.origin) == "run.yaml:1:19"
