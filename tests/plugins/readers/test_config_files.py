"""Wherever the name of a model is taken, so is the path of one."""

import json
import os
from typing import Any

import pytest

from alignsim import InvalidInput, Scenario, Scenarios, UnknownName, default_registry
from alignsim.cli import main
from alignsim.runfile import scenario_of
from alignsim_plugins.readers.paths import name_of
from plugins.readers.conftest import PARAMETERS, TINY

CHOSEN: Any = {"*": "none", "precision": "bf16", "engine": "single-device"}
SFT: Any = {"algorithm": "SFT", "components": CHOSEN}


def read(path):
    return default_registry().read("architectures", str(path))


def test_a_folder_and_its_file_are_the_same_model(model):
    folder = model()
    found = read(folder)
    assert found.item == read(folder / "config.json").item
    assert (found.item.name, found.item.layers, found.item.hidden) == ("tiny-llama", 2, 64)
    assert found.notes[0] == "read as family llama"
    assert found.notes[1].startswith("stored as bfloat16")


def test_a_scenario_takes_a_path(model):
    folder = model()
    by_text = Scenario(models={"policy": str(folder)}, **SFT)
    assert by_text.result.value("{tiny-llama}.parameters") == PARAMETERS
    assert Scenario(models={"policy": folder}, **SFT).models == by_text.models
    assert scenario_of({**SFT, "models": {"policy": f"{folder}/config.json"}}).models == by_text.models
    assert Scenarios.Llama2_70B_PpoAlignment.using(policy=str(folder), tp_size=1, pp_size=1).policy.hidden == 64


def test_the_command_line_takes_a_path(model, capsys):
    folder = model()
    assert main(["run", "--policy", str(folder), "--tensor", "1", "--pipeline", "1"]) == 0
    assert "policy tiny-llama, critic tiny-llama" in capsys.readouterr().out
    assert main(["models", str(folder), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["counted_parameters"], told["sources"]["layers"]) == (
        PARAMETERS,
        f"{folder}/config.json:3:2, num_hidden_layers",
    )


def test_a_name_comes_before_a_path(model, monkeypatch, tmp_path):
    folder = model()
    monkeypatch.chdir(tmp_path)
    os.rename(folder, "Llama-2-7B")
    registry = default_registry()
    assert registry.resolve("architectures", "Llama-2-7B").layers == 32
    assert registry.resolve("architectures", "./Llama-2-7B").layers == 2
    with pytest.raises(UnknownName, match="did you mean Llama-3-8B"):
        registry.resolve("architectures", "Llama-3-8")


def test_how_a_model_is_called(tmp_path):
    assert name_of(tmp_path / "models--org--My-1B" / "snapshots" / "0123" / "config.json") == "My-1B"
    assert name_of(tmp_path / "org--My-1B_config.json") == "org--My-1B"
    assert name_of(tmp_path / "{a}\n" / "config.json") == "a"


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({}, "config.json: model_type: is required: this file does not say"),
        ({"quantization": {}}, "says how a model is quantised, not what it is"),
        ([], "config.json: expected an object with names"),
        ({**TINY, "hidden_size": 2**52, "num_attention_heads": 1}, r"describes \S+ parameters, above 2\^53"),
    ],
)
def test_files_that_describe_no_model(tmp_path, written, told):
    (tmp_path / "config.json").write_text(json.dumps(written))
    with pytest.raises(InvalidInput, match=told):
        read(tmp_path)


def test_a_reward_model_gives_one_number(model):
    folder = model({"architectures": ["LlamaForSequenceClassification"], "id2label": {"0": "LABEL_0"}})
    found = read(folder)
    assert (found.item.head, found.item.name) == ("scalar", "tiny-llama")
    assert "one number a token: LlamaForSequenceClassification" in found.notes
    run = Scenario(models={"policy": folder}, **SFT)
    assert run.result.value("{tiny-llama}.parameters") == PARAMETERS - 1000 * 64 + 64


def test_other_heads(model):
    folder = model({"architectures": ["LlamaForSequenceClassification"]})
    with pytest.raises(InvalidInput, match=r"id2label: LlamaForSequenceClassification gives 2 numbers a sequence"):
        read(folder)
    (folder / "config.json").write_text(json.dumps({**TINY, "architectures": ["LlamaModel"]}))
    assert read(folder).notes[1].endswith("head of a language model, which LlamaModel may not have")


def test_what_matters_not_may_be_infinite(tmp_path):
    (tmp_path / "config.json").write_text('{"time_step_limit": [0, Infinity], ' + json.dumps(TINY)[1:])
    assert read(tmp_path).item.layers == 2


def test_places_where_nothing_is(tmp_path):
    for path, told in (
        (tmp_path, "has no config.json"),
        (tmp_path / "none.json", "cannot be read: No such file"),
        (f"{tmp_path}/\0.json", "cannot be read: embedded null"),
        (f"{'a' * 5000}.json", "cannot be read: File name too long"),
        ("~nobody-of-that-name/config.json", "cannot be read: No such file"),
        ("/dev/zero", "^/dev/zero: is no ordinary file"),
    ):
        with pytest.raises(InvalidInput, match=told):
            read(path)
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(InvalidInput, match="is no ordinary file"):
        read(tmp_path)


def test_large_files_are_not_read(tmp_path):
    with (tmp_path / "config.json").open("wb") as file:
        file.truncate(100 * 2**20)
    with pytest.raises(InvalidInput, match="is larger than 4,194,304 bytes"):
        read(tmp_path)


def test_problems_come_with_exit_status_2(model, capsys):
    folder = model({"num_key_value_heads": 3})
    assert main(["models", str(folder)]) == 2
    assert (
        capsys.readouterr().err == f"error: {folder}/config.json:9:2: num_key_value_heads: 3 does not divide heads 4\n"
    )


def test_a_family_can_be_taught(tmp_path, capsys):
    (tmp_path / "config.json").write_text(json.dumps({**TINY, "model_type": "acme"}, indent=1))
    assert main(["models", str(tmp_path)]) == 2
    assert "no family of models is known as 'acme'" in capsys.readouterr().err
    assert main(["models", "new", "acme"]) == 0
    (tmp_path / "acme.py").write_text(capsys.readouterr().out)
    assert main(["models", str(tmp_path), "--json", "--plugin", f"{tmp_path}/acme.py"]) == 0
    assert json.loads(capsys.readouterr().out)["counted_parameters"] == PARAMETERS
