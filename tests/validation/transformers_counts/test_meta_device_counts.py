"""The catalogue against transformers: every model is described there too, and some are counted where it is."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from runpy import run_path

import pytest

from alignsim_plugins.architectures.published import published

COUNTING = run_path(str(Path(__file__).with_name("count.py")))
CONFIGS = COUNTING["configs"]()


def test_every_model_is_described():
    assert set(CONFIGS) == set(published())


@pytest.mark.parametrize("name", CONFIGS)
def test_same_shape(name):
    ours, theirs = published()[name], CONFIGS[name]
    for field, spellings in {
        "layers": ("num_hidden_layers", "n_layer"),
        "hidden": ("hidden_size", "n_embd"),
        "heads": ("num_attention_heads", "n_head"),
        "kv_heads": ("num_key_value_heads",),
        "vocab": ("vocab_size",),
        "max_positions": ("max_position_embeddings", "n_positions"),
        "experts": ("num_experts", "num_local_experts", "n_routed_experts"),
        "experts_per_token": ("num_experts_per_tok",),
        "dense_layers": ("first_k_dense_replace",),
        "kv_lora_rank": ("kv_lora_rank",),
    }.items():
        for spelling in spellings:
            assert getattr(ours, field) == theirs.get(spelling, getattr(ours, field)), spelling
    assert theirs["repository"] in ours.aliases


@pytest.mark.skipif(not (find_spec("torch") and find_spec("transformers")), reason="needs torch and transformers")
@pytest.mark.parametrize("name", ["GPT-2", "Pythia-70M", "Qwen3-0.6B", "Gemma-3-270M", "gpt-oss-20b", "DeepSeek-V3"])
def test_counted_anew(name):
    recorded = published()[name].recorded
    assert recorded is not None
    assert COUNTING["count"](CONFIGS[name]) == recorded.value
