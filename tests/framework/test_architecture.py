"""A described transformer: what it hands to the graph, and what it refuses."""

from __future__ import annotations

import pickle
from typing import Any

import attrs
import pytest

from alignsim import Architecture
from alignsim.errors import InvalidInput

SHAPE: dict[str, Any] = {"name": "x", "layers": 2, "hidden": 64, "heads": 4, "ffn": 128, "vocab": 100}
EXPERTS: dict[str, Any] = {"experts": 4, "experts_per_token": 2, "expert_ffn": 8}
LATENT: dict[str, Any] = {"kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 4}


def problems(**changed):
    with pytest.raises(InvalidInput) as caught:
        Architecture(**{name: value for name, value in {**SHAPE, **changed}.items() if value is not ...})
    return [str(problem) for problem in caught.value.problems]


def test_absent_heads_are_resolved():
    plain = Architecture(**SHAPE)
    assert (plain.kv_heads, plain.head_dim) == (4, 16)
    same = Architecture(**SHAPE, kv_heads=None, head_dim=None)
    assert same == plain
    explicit = Architecture(**SHAPE, kv_heads=2, head_dim=32)
    assert (explicit.kv_heads, explicit.head_dim) == (2, 32)
    assert Architecture(**SHAPE, **LATENT).head_dim == 8  # of a latent query


def test_every_number_is_there_for_every_model():
    dense = Architecture(**SHAPE).numbers()
    moe = Architecture(**SHAPE, **EXPERTS).numbers()
    stated = Architecture(name="s", layers=2, hidden=64, heads=4, parameters=1000).numbers()
    assert set(dense) == set(moe) == set(stated) - {"parameters"}
    assert [dense[name].value for name in ("experts", "gated", "tied")] == [0.0, 1.0, 0.0]
    assert [stated[name].value for name in ("parameters", "ffn", "vocab")] == [1000.0, 0.0, 0.0]


def test_numbers_say_where_they_are_from():
    numbers = Architecture(**SHAPE, source="a paper", sources={"vocab": "a tokenizer"}).numbers()
    assert numbers["layers"].source == "a paper"
    assert numbers["vocab"].source == "a tokenizer"
    assert numbers["scalar_head"].source == "a paper"


def test_scalar_head():
    critic = Architecture(**SHAPE, aliases=["org/x"], head_bias=True).with_scalar_head()
    assert (critic.name, critic.head, critic.aliases, critic.head_bias) == ("x-scalar", "scalar", (), False)
    assert critic.numbers()["scalar_head"].value == 1.0
    assert Architecture(**SHAPE).numbers()["scalar_head"].value == 0.0
    assert Architecture(**SHAPE).with_scalar_head(name="reward").name == "reward"


def test_stated_count_cannot_follow_a_change_of_head():
    stated = Architecture(**SHAPE, parameters=1000)
    with pytest.raises(InvalidInput, match=r"states 1,000 .*with_scalar_head\(parameters=...\)"):
        stated.with_scalar_head()
    assert stated.with_scalar_head(parameters=900).parameters == 900


def test_stated_latent_model_needs_only_its_cache():
    stated = Architecture(
        name="s", parameters=671_000_000_000, layers=61, hidden=7168, heads=56, kv_lora_rank=512, qk_rope_head_dim=64
    )
    assert stated.numbers()["head_dim"].value == 128


def test_travels_and_evolves():
    shape = Architecture(**SHAPE, kv_heads=2)
    assert pickle.loads(pickle.dumps(shape)) == shape
    assert attrs.evolve(shape, layers=3).layers == 3
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        shape.layers = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"layers": -1}, "Architecture.layers: must be at least 1, got -1"),
        ({"layers": 2.5}, "Architecture.layers: expected a whole number, got 2.5"),
        ({"layers": True}, "Architecture.layers: expected a whole number, got True"),
        ({"layers": "2"}, "Architecture.layers: expected a whole number, got '2'"),
        ({"layers": None}, "Architecture.layers: expected a whole number, got None"),
        ({"hidden": ...}, "Architecture.hidden: is required"),
        ({"heads": ...}, "Architecture.heads: is required"),
        ({"heads": 0}, "Architecture.heads: must be at least 1, got 0"),
        ({"ffn": ...}, "Architecture.ffn: is required unless parameters is stated"),
        ({"vocab": 0}, "Architecture.vocab: is required unless parameters is stated"),
        ({"vocab": -1}, "Architecture.vocab: must be at least 0, got -1"),
        ({"hiden": 2}, "Architecture.hiden: no such field; did you mean hidden?"),
        ({"kv_heads": 8}, "Architecture.kv_heads: 8 exceeds heads 4"),
        ({"kv_heads": 3}, "Architecture.kv_heads: 3 does not divide heads 4"),
        ({"kv_heads": 0}, "Architecture.kv_heads: must be at least 1, got 0"),
        ({"hidden": 66}, "Architecture.head_dim: is required: hidden 66 is not divisible by heads 4"),
        ({"name": " "}, "Architecture.name: expected a name, got ' '"),
        ({"aliases": "org/x"}, "Architecture.aliases: expected a list of names, got the text 'org/x'"),
        ({"tied": 1}, "Architecture.tied: expected true or false, got 1"),
        ({"head": "skalar"}, "Architecture.head: no head 'skalar'; did you mean scalar?"),
        ({"head": "scalar", "head_bias": True}, "Architecture.head_bias: is true, but a scalar head has no bias"),
        ({"parameters": 0}, "Architecture.parameters: must be at least 1, got 0"),
        ({**EXPERTS, "experts_per_token": 5}, "Architecture.experts_per_token: 5 exceeds experts 4"),
        ({"experts": 4, "expert_ffn": 8}, "Architecture.experts_per_token: is required with experts"),
        ({"expert_ffn": 8}, "Architecture.expert_ffn: is 8, but experts is 0"),
        ({**EXPERTS, "dense_layers": 3}, "Architecture.dense_layers: 3 exceeds layers 2"),
        ({**EXPERTS, "expert_every": 0}, "Architecture.expert_every: must be at least 1, got 0"),
        ({**EXPERTS, "shared_gate": True}, "Architecture.shared_gate: is True, but shared_experts is 0"),
        ({"window": 8}, "Architecture.window_layers: is required with window"),
        ({"window": 8, "window_layers": 3}, "Architecture.window_layers: 3 exceeds layers 2"),
        ({"v_head_dim": 4}, "Architecture.v_head_dim: is 4, but kv_lora_rank is 0"),
        ({"parameters": 9, "kv_lora_rank": 8}, "Architecture.qk_rope_head_dim: is required with kv_lora_rank"),
        (
            {**LATENT, "v_head_dim": 0},
            "Architecture.v_head_dim: is required with kv_lora_rank, unless parameters is stated",
        ),
        (
            {**LATENT, "qkv_bias": True},
            "Architecture.qkv_bias: is true, but latent attention (kv_lora_rank) is only known without it",
        ),
        (
            {"norm_bias": True},
            "Architecture.norm_bias: is true, but RMSNorm has no bias; say rms_norm=False for LayerNorm",
        ),
        (
            {"qk_norm": True, "qk_norm_full": True},
            "Architecture.qk_norm_full: is true, and so is qk_norm; a model has one or the other",
        ),
    ],
)
def test_nonsense_is_refused(changed, expected):
    assert problems(**changed) == [expected]


def test_all_problems_are_told_at_once():
    assert len(problems(layers=-1, heads=True, fnn=3, hidden=...)) == 4
    assert len(problems(kv_heads=3, hidden=66, vocab=0, window=8, v_head_dim=2)) == 5


def test_layers_that_all_have_experts_need_no_dense_width():
    fields = {**SHAPE, **EXPERTS}
    del fields["ffn"]
    assert Architecture(**fields).ffn == 0
    with pytest.raises(InvalidInput, match="ffn: is required"):
        Architecture(**fields, dense_layers=1)
    with pytest.raises(InvalidInput, match="takes keywords only"):
        Architecture("x")  # type: ignore[call-arg]
