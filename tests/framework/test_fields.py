"""Files with data: what is wrong is told with its place."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import InvalidInput
from alignsim.fields import Fields
from alignsim.jsonfile import read_json


def written(tmp_path: Any, text: str | bytes) -> str:
    path = tmp_path / "data.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_a_file(tmp_path: Any):
    assert read_json(written(tmp_path, '\ufeff{"rows": [1, 2.5, "NaN"]}')) == {"rows": [1, 2.5, "NaN"]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", r"data\.json:1:1: is not JSON"),
        ('{"rows":\n [1,]}', r"data\.json:2:\d+: is not JSON"),
        (b"\xff\xfe", "is not UTF-8 text"),
        ('{"rows": [{"peak": NaN}]}', r"data\.json: rows\[0\]\.peak: nan is not a number"),
        ('{"rows": [1, -Infinity]}', r"rows\[1\]: -inf is not a number"),
        ('{"a": 1e999}', "a: inf is not a number"),
        ('{"a": 1, "a": 2}', "data.json:1:10: a: is here twice"),
        ("[" * 100_000, "is nested too deep to be read"),
        ("1" * 5000, "is not JSON that can be read"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Any, text: Any, told: str):
    with pytest.raises(InvalidInput, match=told):
        read_json(written(tmp_path, text))


def test_no_file(tmp_path: Any):
    with pytest.raises(InvalidInput, match=r"none\.json: cannot be read: No such file"):
        read_json(tmp_path / "none.json")
    with pytest.raises(InvalidInput, match="cannot be read: Is a directory"):
        read_json(tmp_path)


def test_fields_of_each_kind():
    fields = Fields({"n": 3, "x": 0.5, "t": "a", "f": True, "o": {"n": 1}, "l": [{"n": 2}]}, "rows[1]")
    assert (fields.number("x"), fields.count("n"), fields.text("t", among=("a",)), fields.flag("f")) == (
        0.5,
        3,
        "a",
        True,
    )
    assert fields.inside("o").count("n") == 1
    assert fields.each("l")[0].place == "rows[1].l[0]"
    assert fields.only(fields.data) is fields


@pytest.mark.parametrize(
    ("read", "told"),
    [
        (lambda f: f.number("no"), r"rows\[1\]\.no: is required"),
        (lambda f: f.number("t"), "t: expected a number, got 'sdpa'"),
        (lambda f: f.number("f"), "f: expected a number, got True"),
        (lambda f: f.count("x"), "x: expected a whole number of at least 0, got 0.5"),
        (lambda f: f.count("n", least=4), "n: expected a whole number of at least 4, got 3"),
        (lambda f: f.text("n"), "n: expected a text, got 3"),
        (lambda f: f.text("t", among=("sdp", "eager")), "t: no 'sdpa' here; did you mean sdp"),
        (lambda f: f.flag("n"), "n: expected true or false, got 3"),
        (lambda f: f.inside("n"), r"rows\[1\]\.n: expected an object with names, got 3"),
        (lambda f: f.each("t"), "t: expected a list, got 'sdpa'"),
        (lambda f: f.each("l"), r"rows\[1\]\.l\[0\]: expected an object"),
        (lambda f: f.only(("number", "t")), r"rows\[1\]\.n: no such field"),
        (lambda f: Fields([1]), "expected an object with names, got"),
    ],
)
def test_fields_that_are_wrong(read: Any, told: str):
    with pytest.raises(InvalidInput, match=told):
        read(Fields({"n": 3, "x": 0.5, "t": "sdpa", "f": True, "l": [1]}, "rows[1]"))
