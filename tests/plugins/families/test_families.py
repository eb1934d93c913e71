"""Shapes read from ``config.json`` are the catalogue's, for every model of it."""

import json
from pathlib import Path

import attrs
import pytest

from alignsim import Architecture, Family, InvalidInput, default_registry
from alignsim.jsonfile import Document
from alignsim.shapes import shape_of
from alignsim.testing import offering, registry_of

FILE = Path(__file__).parents[2] / "validation" / "transformers_counts" / "configs.json"
CONFIGS = json.loads(FILE.read_text(encoding="utf-8"))
ABOUT = {"name", "aliases", "source", "sources", "recorded", "parameters"}
TINY = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 1000,
}


FAMILIES = default_registry().families


def read(config, text=""):
    return shape_of(Document("config.json", text or json.dumps(config), config), FAMILIES, "tiny")


def shape(config):
    return read(config).architecture


def refusal(config, text=""):
    with pytest.raises(InvalidInput) as caught:
        read(config, text)
    return str(caught.value)


def test_many_models_are_compared():
    assert len(CONFIGS) >= 112
    assert {config["model_type"] for config in CONFIGS.values()} <= set(FAMILIES)


@pytest.mark.parametrize("name", CONFIGS)
def test_the_shape_is_the_catalogue_s(name):
    found, known = shape(CONFIGS[name]), default_registry().architectures[name]
    fields = [field.name for field in attrs.fields(Architecture) if field.name not in ABOUT]
    assert {f: getattr(found, f) for f in fields} == {f: getattr(known, f) for f in fields}


def test_every_number_says_where_it_is_from():
    config = {**TINY, "model_type": "qwen2", "num_key_value_heads": 2}
    found = read(config, json.dumps(config, indent=1)).architecture
    sources = {name: number.source for name, number in found.numbers().items()}
    assert sources["layers"] == "config.json:3:2, num_hidden_layers"
    assert sources["qkv_bias"] == "transformers 5.24.0, Qwen2Config and Qwen2Attention"


def test_biases_are_read():
    biased = shape({**TINY, "attention_bias": True, "mlp_bias": True})
    assert (biased.qkv_bias, biased.output_bias, biased.mlp_bias) == (True, True, True)
    assert shape({**TINY, "model_type": "qwen2", "num_key_value_heads": 2}).qkv_bias


def test_layers_that_look_back_are_counted():
    mixed = {**TINY, "model_type": "gemma3_text", "head_dim": 16, "sliding_window": 8, "max_position_embeddings": 64}
    assert shape({**mixed, "num_hidden_layers": 12}).window_layers == 10
    stated = shape({**mixed, "layer_types": ["sliding_attention", "full_attention"]})
    assert (stated.window, stated.window_layers) == (8, 1)
    switched = {**TINY, "model_type": "qwen2", "num_key_value_heads": 4, "sliding_window": 8, "max_window_layers": 1}
    assert (shape(switched).window, shape({**switched, "use_sliding_window": True}).window_layers) == (0, 1)


def test_a_null_is_no_default():
    assert shape({**TINY, "model_type": "mistral", "num_key_value_heads": None}).kv_heads == 4
    assert "8 exceeds heads 4; it is not in the file, and transformers" in refusal({**TINY, "model_type": "mistral"})
    latent = {**TINY, "model_type": "deepseek_v3", "first_k_dense_replace": 1, "head_dim": 64}
    assert shape(latent).q_lora_rank == 1536
    assert shape({**latent, "q_lora_rank": None}).q_lora_rank == 0
    assert shape(latent).head_dim == 192


def test_experts_come_after_dense_layers_or_in_every_so_many():
    mixed = {**TINY, "model_type": "qwen3_moe", "num_key_value_heads": 2, "num_hidden_layers": 4}
    assert (shape(mixed).ffn, shape(mixed).experts) == (0, 128)
    assert shape({**mixed, "mlp_only_layers": [0, 1]}).dense_layers == 2
    assert shape({**mixed, "decoder_sparse_step": 2}).expert_every == 2


def test_the_language_model_within_is_meant():
    text = {key: value for key, value in TINY.items() if key != "model_type"}
    seeing = {
        "model_type": "qwen3_vl",
        "text_config": {**text, "num_key_value_heads": 2},
        "vision_config": {"depth": 1},
    }
    found = read(seeing)
    assert (found.family, found.architecture.layers, found.architecture.tied) == ("qwen3", 2, False)
    assert "not counted: the vision tower (vision_config)" in found.notes
    assert shape({**seeing, "tie_word_embeddings": True}).tied
    gemma = shape({"model_type": "gemma3", "text_config": {"hidden_size": 2560, "num_hidden_layers": 34}})
    assert (gemma.heads, gemma.kv_heads, gemma.vocab, gemma.tied) == (8, 4, 262208, True)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            {"model_type": "lama"},
            "known as 'lama' (`alignsim models new lama` prints",
        ),
        ({"model_type": "LLAMA"}, "plugin that teaches it); did you mean llama"),
        ({"model_type": 3}, "model_type: expected a text, got 3"),
        ({"model_type": "qwen3_5"}, "models of family 'qwen3_5' cannot be described yet: layers of linear attention"),
        ({"model_type": "qwen3_moe", "mlp_only_layers": [1]}, "mlp_only_layers: layers without experts are only known"),
        ({"hidden_size": None}, "hidden_size: is required"),
        (
            {"num_hidden_layer": 2, "num_hidden_layers": None},
            "num_hidden_layers: is required; the file has 'num_hidden_layer'",
        ),
        ({"hidden_size": 66}, "head_dim: is required: hidden 66 is not divisible by heads 4"),
        ({"num_key_value_heads": 3}, "num_key_value_heads: 3 does not divide heads 4"),
        ({"num_hidden_layers": -2}, "num_hidden_layers: must be at least 0, got -2"),
        ({"num_hidden_layers": 0}, "num_hidden_layers: must be at least 1, got 0"),
        ({"vocab_size": 10.5}, "vocab_size: expected a whole number, got 10.5"),
        ({"vocab_size": float("nan")}, "vocab_size: expected a whole number, got nan"),
        ({"vocab_size": float("inf")}, "vocab_size: expected a whole number, got inf"),
        ({"vocab_size": 10**400}, "vocab_size: is above 2^53"),
        ({"vocab_size": "1000"}, "vocab_size: expected a whole number, got '1000'"),
        ({"vocab_size": True}, "vocab_size: expected a whole number, got True"),
        ({"attention_bias": "yes"}, "attention_bias: expected true or false, got 'yes'"),
        (
            {"model_type": "gemma2", "layer_types": ["full_attention"]},
            "expected one entry for each of 2 layers, got 1 e",
        ),
        (
            {"model_type": "gemma2", "layer_types": ["mamba"] * 2},
            "layer_types[0]: layers of kind 'mamba' are not known",
        ),
        ({"model_type": "falcon", "alibi": True}, "alibi: is True; positions by ALiBi are not known here"),
        (
            {"model_type": "opt", "ffn_dim": 128, "word_embed_proj_dim": 32},
            "word_embed_proj_dim: is 32; an embedding is",
        ),
        ({"model_type": "llama4", "text_config": 3}, "text_config: expected an object with names, got 3"),
        (
            {"model_type": "llama4", "text_config": {"model_type": "llama4"}},
            "text_config.model_type: 'llama4' is about",
        ),
    ],
)
def test_what_is_not_known_is_refused(change, why):
    assert why in refusal({**TINY, **change})


def test_all_problems_are_told_with_their_lines():
    config = {**TINY, "hidden_size": "wide", "vocab_size": 1.5, "num_attention_heads": None}
    assert refusal(config, json.dumps(config, indent=1)).splitlines() == [
        "config.json:4:2: hidden_size: expected a whole number, got 'wide'",
        "config.json:7:2: vocab_size: expected a whole number, got 1.5",
        "config.json:5:2: num_attention_heads: is required",
    ]


def test_a_plugin_teaches_a_family():
    family = Family(
        name="acme", keys={"layers": "depth", "hidden": ("width", "d"), "heads": "h", "ffn": "f", "vocab": "v"}
    )
    registry = registry_of(offering(families=[family]))
    config = {"model_type": "acme", "depth": 2, "d": 64, "h": 4, "f": 128, "v": 1000}
    found = shape_of(Document("config.json", "", config), registry.families, "a").architecture
    assert (found.layers, found.hidden, found.vocab) == (2, 64, 1000)
    with pytest.raises(InvalidInput, match="family acme: keys: an architecture has no 'layer'; did you mean layers"):
        Family(name="acme", keys={"layer": "depth"})
