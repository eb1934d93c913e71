"""Adapters from adapter_config.json: the component that PEFT's file describes."""

import json

import pytest

from alignsim import InvalidInput, Scenario, default_registry
from alignsim.cli import main

LORA = {
    "peft_type": "LORA",
    "base_model_name_or_path": "meta-llama/Llama-3.1-8B",
    "r": 64,
    "lora_alpha": 16,
    "lora_dropout": 0.05,
    "target_modules": ["q_proj", "v_proj"],
    "bias": "none",
    "modules_to_save": None,
    "use_dora": False,
}
CHOSEN = {"*": "none", "precision": "bf16", "engine": "single-device", "layers": "transformers"}


@pytest.fixture
def adapter(tmp_path):
    def made(**changes):
        path = tmp_path / "adapter_config.json"
        path.write_text(json.dumps({**LORA, **changes}, indent=1), encoding="utf-8")
        return path

    return made


def read(path):
    return default_registry().read("components", str(path))


def numbers(component):
    return {name: constant.value for name, constant in component.defaults.items()}


def test_the_numbers_are_the_file_s(adapter):
    path = adapter()
    component = read(path).item
    told = numbers(component)
    assert (component.name, component.slot.name, told["lora_rank"], told["lora_dropout"]) == (
        "lora",
        "adapter",
        64,
        0.05,
    )
    assert [part for part in told if part.startswith("adapts_") and told[part]] == ["adapts_query", "adapts_value"]
    assert component.defaults["lora_rank"].source == f"{path}:4:2, r"
    assert read(path.parent).item == component


def test_a_run_takes_a_path(adapter):
    chosen = {**CHOSEN, "adapter": str(adapter())}
    run = Scenario(algorithm="SFT", models={"policy": "Llama-3.1-8B"}, components=chosen)
    trained = run.result.value("policy.trainable_parameters")
    assert trained == 32 * 64 * ((4096 + 4096) + (4096 + 1024))  # PEFT's own count of this adapter: 27,262,976
    assert trained == 27_262_976


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"use_dora": True}, "dora"),
        ({"target_modules": "all-linear"}, "lora"),
        ({"target_modules": ["self_attn.q_proj", "mlp.down_proj"]}, "lora"),
        ({"target_modules": ["q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj"]}, "lora"),
    ],
)
def test_kinds(adapter, changes, expected):
    assert read(adapter(**changes)).item.name == expected


def test_what_is_left_out_is_peft_s_own(adapter):
    path = adapter()
    path.write_text('{"peft_type": "LORA", "target_modules": "all-linear"}')
    told = numbers(read(path).item)
    assert (told["lora_rank"], told["lora_dropout"], told["adapts_gate"]) == (8, 0, 1)


def test_it_is_shown(adapter, capsys):
    assert main(["models", str(adapter().parent)]) == 0
    shown = capsys.readouterr().out
    assert "its base model: meta-llama/Llama-3.1-8B, Llama-3.1-8B of the catalogue" in shown
    assert main(["models", str(adapter()), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["defaults"]["lora_rank"]["value"] == 64


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"peft_type": "IA3"}, "peft_type: expected 'LORA', got 'IA3'"),
        ({"r": 0}, "r: expected a whole number of at least 1, got 0"),
        ({"r": 1.5}, "r: expected a whole number of at least 1, got 1.5"),
        ({"r": float("inf")}, "inf is not a number"),
        ({"r": 10**30}, "is no rank"),
        ({"r": "8"}, "r: expected a number, got '8'"),
        ({"lora_dropout": 1}, "lora_dropout: expected a rate from 0 to below 1, got 1"),
        ({"use_dora": "yes"}, "use_dora: expected true or false, got 'yes'"),
        ({"target_modules": None}, "target_modules: expected 'all-linear' or a list of names, got None"),
        ({"target_modules": ".*_proj"}, "target_modules: expected 'all-linear' or a list"),
        ({"target_modules": ["q_prj"]}, "target_modules[0]: no projection is known as 'q_prj'; did you mean q_proj"),
        ({"target_modules": ["layers.3.q_proj"]}, "no projection is known as 'layers.3.q_proj'"),
        ({"target_modules": ["qkv_proj"]}, "target_modules[0]: 'qkv_proj' is several projections in one"),
        ({"target_modules": ["q_a_proj"]}, "has one of q_a_proj and q_b_proj"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save: modules that are trained in full beside adapters"),
        ({"rank_pattern": {"q_proj": 4}}, "rank_pattern: ranks that differ"),
        ({"bias": "all"}, "bias: expected 'none', got 'all'"),
    ],
)
def test_what_is_not_known_is_refused(adapter, changes, why):
    path = adapter(**changes)
    with pytest.raises(InvalidInput) as caught:
        read(path)
    assert why in str(caught.value)
    assert str(caught.value).startswith(f"{path}:")


def test_all_problems_are_told_at_once(adapter):
    with pytest.raises(InvalidInput) as caught:
        read(adapter(r=-1, lora_dropout=2, bias="all"))
    assert len(caught.value.problems) == 3


def test_an_adapter_is_no_model_and_no_other_component(adapter):
    folder = str(adapter().parent)
    with pytest.raises(InvalidInput, match="holds an adapter, not a model"):
        default_registry().resolve("architectures", folder)
    with pytest.raises(InvalidInput, match="describes what fills slot 'adapter'"):
        default_registry().component("engine", folder)
