"""Headers of weights: exact counts, and nothing that they say is believed."""

import json
import os

import pytest

from alignsim import InvalidInput, Stored, default_registry
from alignsim_plugins.readers.safetensors import tensors
from plugins.readers.conftest import PARAMETERS, TENSORS, header, saved


def read(path):
    return default_registry().read("architectures", str(path))


def test_weights_are_counted_and_compared(model):
    found = read(model(tensors=TENSORS))
    assert found.stored == (Stored("BF16", len(TENSORS), PARAMETERS, 2 * PARAMETERS),)
    assert found.notes[-1] == "weights: exactly as many as the shape gives"


def test_a_head_of_their_own(model):
    folder = model({"tie_word_embeddings": True}, TENSORS)
    assert read(folder).notes[-1].endswith("64,000 more than the shape gives: a head of their own")


def test_no_head_of_their_own(model):
    untied = {name: shape for name, shape in TENSORS.items() if name != "lm_head.weight"}
    assert "64,000 fewer than the shape gives: no head" in read(model(tensors=untied)).notes[-1]


def test_quantised_weights(model):
    folder = model()
    scales = {"model.layers.0.q.weight_scale_inv": [2, 2]}
    formats = {**dict.fromkeys(TENSORS, "F8_E4M3"), **dict.fromkeys(scales, "F32")}
    saved(folder / "model.safetensors", *header({**TENSORS, **scales}, formats))
    found = read(folder)
    assert found.stored == (Stored("F8_E4M3", len(TENSORS), PARAMETERS, PARAMETERS), Stored("F32", 1, 4, 16))
    assert found.notes[-1] == "weights: exactly as many as the shape gives, beside 1 tensors of scales"
    packed = {"q.qweight": [8, 64]}
    saved(folder / "model.safetensors", *header(packed, {"q.qweight": "I32"}))
    assert read(folder).notes[-1] == "weights: some are in I32, where several may be packed in one element"


def split(folder, tensors_of):
    for file, names in tensors_of.items():
        saved(folder / file, *header({name: TENSORS[name] for name in names}))
    by_name = {name: file for file, names in tensors_of.items() for name in names}
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 2 * PARAMETERS}, "weight_map": by_name}))
    return index


def test_an_index_and_its_files(model):
    folder, names = model(), list(TENSORS)
    index = split(folder, {"a.safetensors": names[:3], "b.safetensors": names[3:]})
    assert sum(each.elements for each in read(folder).stored) == PARAMETERS
    assert read(index).notes == (f"the index tells of {2 * PARAMETERS:,} bytes in 2 files",)
    (folder / "b.safetensors").unlink()
    assert read(folder).notes[-1] == "weights: 1 of the 2 files that model.safetensors.index.json names are here"
    assert "1 of its 2 files are here" in read(index).notes[-1]


@pytest.mark.parametrize("name", ["../a.safetensors", "/etc/passwd", "a\\b.safetensors", "a.bin", ""])
def test_an_index_names_only_files_beside_it(tmp_path, name):
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"w": name}}))
    with pytest.raises(InvalidInput, match="weight_map: expected names of files beside the index"):
        read(index)


def test_an_index_may_name_what_cannot_be_there(tmp_path):
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"w": "a" * 5000 + ".safetensors", "v": "\0.safetensors"}}))
    assert read(index).notes == ("0 of its 2 files are here: nothing is counted",)


def test_weights_alone_are_no_model(tmp_path):
    path = saved(tmp_path / "w.safetensors", *header(TENSORS))
    assert read(path).item is None
    with pytest.raises(InvalidInput, match=r"policy: .* holds weights, and does not say what they are of"):
        default_registry().resolve("architectures", str(path), "policy")


GOOD = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}


@pytest.mark.parametrize(
    ("told", "data", "why"),
    [
        ({"w": {**GOOD, "dtype": "F31"}}, 16, "w.dtype: no format 'F31' is known; did you mean F"),
        ({"w": {**GOOD, "shape": [2, 3]}}, 16, "w.data_offsets: 6 elements of F32 take 24 bytes, not 16"),
        ({"w": {**GOOD, "shape": [-2, -2]}}, 16, "w.shape: expected whole numbers from 0 on, got -2"),
        ({"w": {**GOOD, "shape": [2.0, 2]}}, 16, "w.shape: expected whole numbers"),
        ({"w": {**GOOD, "shape": [2**53, 2**53]}}, 16, "w.shape: expected whole numbers"),
        ({"w": {**GOOD, "shape": 4}}, 16, "w.shape: expected a list of at most 64 numbers, got 4"),
        ({"w": {**GOOD, "data_offsets": [16, 0]}}, 16, "w.data_offsets: 4 elements"),
        ({"w": {**GOOD, "data_offsets": [16, 32]}}, 32, "w: its data begin at byte 16, where 0 was expected"),
        ({"w": GOOD, "v": GOOD}, 16, "its data begin at byte 0, where 16 was expected"),
        ({"w": GOOD}, 12, "has 12 bytes of data, where its header tells of 16: was it cut short?"),
        ({"w": 3}, 0, "w: expected an object with names, got 3"),
        ({"w": {}}, 0, "w.dtype: is required"),
        ([], 0, "expected an object with names"),
    ],
)
def test_headers_that_are_not_true(tmp_path, told, data, why):
    path = saved(tmp_path / "w.safetensors", told, data)
    with pytest.raises(InvalidInput) as caught:
        tensors(path)
    assert why in str(caught.value)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is no safetensors file, or was cut short"),
        (b"\xff" * 8 + b"{}", "is no safetensors file, or was cut short"),
        ((100).to_bytes(8, "little") + b"{}", "its header should have 100 bytes, and the file has 10"),
        ((2).to_bytes(8, "little") + b"xx", "is not JSON"),
    ],
)
def test_files_of_another_kind(tmp_path, content, why):
    path = tmp_path / "w.safetensors"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=why):
        tensors(path)


def test_what_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "w.safetensors")
    with pytest.raises(InvalidInput, match="is no ordinary file"):
        tensors(tmp_path / "w.safetensors")


def test_long_headers_are_not_read(tmp_path):
    path = tmp_path / "w.safetensors"
    with path.open("wb") as file:
        file.write((90 * 2**20).to_bytes(8, "little"))
        file.truncate(100 * 2**20)
    with pytest.raises(InvalidInput, match="has a header of 94,371,840 bytes"):
        tensors(path)
