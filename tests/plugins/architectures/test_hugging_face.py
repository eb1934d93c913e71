"""Shapes read from ``config.json`` are the catalogue's, for every model that transformers' totals are known of."""

import json
from pathlib import Path

import attrs
import pytest

from alignsim import Architecture, InvalidInput, default_registry
from alignsim_plugins.architectures.hugging_face import FAMILIES, from_config

FILE = Path(__file__).parents[2] / "validation" / "transformers_counts" / "configs.json"
CONFIGS = {
    name: config
    for name, config in json.loads(FILE.read_text(encoding="utf-8")).items()
    if config["model_type"] in FAMILIES
}
ABOUT = {"name", "aliases", "source", "sources", "recorded", "parameters"}
TINY = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 1000,
}


def test_many_models_and_every_family_are_compared():
    assert len(CONFIGS) >= 98
    assert {config["model_type"] for config in CONFIGS.values()} == set(FAMILIES)


@pytest.mark.parametrize("name", CONFIGS)
def test_the_shape_is_the_catalogue_s(name):
    shape, known = from_config(CONFIGS[name], name=name), default_registry().architectures[name]
    fields = [field.name for field in attrs.fields(Architecture) if field.name not in ABOUT]
    assert {f: getattr(shape, f) for f in fields} == {f: getattr(known, f) for f in fields}


def test_biases_are_read():
    biased = from_config({**TINY, "attention_bias": True, "mlp_bias": True})
    assert (biased.qkv_bias, biased.output_bias, biased.mlp_bias) == (True, True, True)


def test_layers_that_look_back_are_counted():
    mixed = {**TINY, "model_type": "gemma3_text", "head_dim": 16, "sliding_window": 8, "max_position_embeddings": 64}
    assert from_config({**mixed, "num_hidden_layers": 12}).window_layers == 10
    stated = from_config({**mixed, "layer_types": ["sliding_attention", "full_attention"]})
    assert (stated.window, stated.window_layers) == (8, 1)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"model_type": "lama"}, "no shape is known of family 'lama'; did you mean llama"),
        ({"model_type": "qwen3_moe", "mlp_only_layers": [0]}, "only known in a regular pattern"),
        ({"hidden_size": None}, "Architecture.hidden: is required"),
    ],
)
def test_what_is_not_known_is_refused(change, why):
    with pytest.raises(InvalidInput, match=why):
        from_config({**TINY, **change})
