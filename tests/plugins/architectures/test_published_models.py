"""The catalogue: exact, complete, and quick to load."""

from __future__ import annotations

import subprocess
import sys

import pytest

from alignsim.errors import InvalidInput
from alignsim_plugins.architectures.published import alignsim_architectures, published, read_family

MODELS = published()
RECORDED = {name: model.recorded for name, model in MODELS.items() if model.recorded is not None}


@pytest.mark.parametrize("name", MODELS)
def test_derived_count_is_the_recorded_one(count, name):
    model = MODELS[name]
    assert count(model, "parameters") == RECORDED[name].value


@pytest.mark.parametrize("name", MODELS)
def test_parts_make_the_whole(count, name):
    def part(term):
        return count(MODELS[name], term)

    with_experts = part("expert_layers")
    layers = (part("layers") - with_experts) * part("dense_layer_parameters")
    layers += with_experts * part("expert_layer_parameters")
    assert part("parameters") == (
        part("embedding_parameters") + layers + part("norm_parameters") + part("head_parameters")
    )
    assert 0 < part("active_parameters") <= part("parameters")


@pytest.mark.parametrize(
    ("name", "published_total"),
    [
        ("Llama-2-13B", 13_015_864_320),
        ("Llama-2-70B", 68_976_648_192),
        ("Llama-3.1-8B", 8_030_261_248),
        ("Llama-3.1-70B", 70_553_706_496),
        ("Llama-3.1-405B", 405_853_388_800),
        ("Qwen3-0.6B", 596_049_920),
        ("Qwen3-8B", 8_190_735_360),
        ("Qwen3-32B", 32_762_123_264),
        ("Qwen3-30B-A3B", 30_532_122_624),
        ("Qwen3-235B-A22B", 235_093_634_560),
        ("Mixtral-8x7B", 46_702_792_704),
        ("DeepSeek-V3", 671_026_419_200),
        ("Pythia-12B", 11_846_072_320),
        ("gpt-oss-120b", 116_829_156_672),
    ],
)
def test_recorded_totals_are_those_of_the_checkpoints(name, published_total):
    assert RECORDED[name].value == published_total


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("DeepSeek-V3", 37.6),
        ("Mixtral-8x7B", 12.9),
        ("Qwen3-30B-A3B", 3.4),
        ("Qwen3-235B-A22B", 22.2),
        ("Llama-4-Scout", 17.2),
        ("Llama-4-Maverick", 17.2),
        ("Phi-3.5-MoE", 6.6),
        ("OLMoE-1B-7B", 1.3),
    ],
)
def test_active_parameters_are_those_that_makers_state(count, name, billions):
    assert count(MODELS[name], "active_parameters") / 1e9 == pytest.approx(billions, abs=0.05)


def test_names_and_aliases_are_unique():
    names = [n.casefold() for m in MODELS.values() for n in (m.name, *m.aliases)]
    assert sorted(names) == sorted(set(names))
    assert len(MODELS) >= 60


def test_every_model_says_where_it_is_from():
    for model in MODELS.values():
        assert "config.json" in model.source
        assert RECORDED[model.name].source
        assert model.max_positions > 0


def test_hook_offers_all():
    assert alignsim_architectures() == list(MODELS.values())


def test_loading_is_light():
    program = (
        "import sys\n"
        "from alignsim_plugins.architectures.published import published\n"
        "published()\n"
        "print([name for name in ('pint', 'networkx', 'numpy') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_wrong_files_are_refused_with_their_place(tmp_path):
    wrong = tmp_path / "family.toml"
    wrong.write_text('[models."X"]\nlayers = 2\nhiden = 8\nheads = 2\nffn = 4\nvocab = 9\ntotal_parameters = 9\n')
    with pytest.raises(InvalidInput) as caught:
        list(read_family(wrong))
    assert "family.toml: X.Architecture.hiden: no such field; did you mean hidden?" in str(caught.value)
    wrong.write_text("[models\n")
    with pytest.raises(InvalidInput, match=r"family\.toml: .*line 1"):
        list(read_family(wrong))
    wrong.write_text("[model]\n")
    with pytest.raises(InvalidInput, match="model: is neither"):
        list(read_family(wrong))
