"""Counts worked out by hand, one shape of each kind."""

from __future__ import annotations

import attrs
import pytest

from alignsim import Architecture
from alignsim.term import Term
from alignsim_plugins.architectures import parameters as terms
from alignsim_plugins.architectures.published import published

DENSE = Architecture(name="dense", layers=2, hidden=8, heads=4, kv_heads=2, ffn=16, vocab=10)


@pytest.mark.parametrize(
    ("name", "by_hand"),
    [
        ("embedding_parameters", 10 * 8),
        ("attention_parameters", 8 * 8 + 2 * (8 * 4) + 8 * 8),  # q; k and v of 2 heads of 2; out
        ("mlp_parameters", 3 * 8 * 16),
        ("norm_parameters", 8),
        ("dense_layer_parameters", 192 + 384 + 2 * 8),
        ("expert_layers", 0),
        ("head_parameters", 10 * 8),
        ("parameters", 80 + 2 * 592 + 8 + 80),
        ("active_parameters", 80 + 2 * 592 + 8 + 80),
        ("kv_elements_per_token", 2 * 2 * 2),
    ],
)
def test_dense_model_with_grouped_queries(count, name, by_hand):
    assert count(DENSE, name) == by_hand


def test_model_with_experts(count):
    moe = Architecture(
        name="moe", layers=3, hidden=8, heads=2, ffn=32, vocab=10, tied=True, dense_layers=1, router_bias=True,
        experts=4, experts_per_token=2, expert_ffn=6, shared_experts=1, shared_ffn=5, shared_gate=True,
    )  # fmt: skip
    attention, expert = 4 * 8 * 8, 3 * 8 * 6
    layer = attention + 4 * (8 + 1) + 4 * expert + (3 * 8 * 5 + 8) + 2 * 8
    dense = attention + 3 * 8 * 32 + 2 * 8
    assert count(moe, "expert_parameters") == expert
    assert count(moe, "expert_layer_parameters") == layer
    assert count(moe, "parameters") == 80 + dense + 2 * layer + 8
    assert count(moe, "active_parameters") == 80 + dense + 2 * (layer - 2 * expert) + 8


def test_every_second_layer_has_experts(count):
    moe = Architecture(
        name="m", layers=5, hidden=8, heads=2, ffn=4, vocab=9, experts=2, experts_per_token=1, expert_ffn=4,
        expert_every=2,
    )  # fmt: skip
    assert count(moe, "expert_layers") == 2
    assert count(attrs.evolve(moe, dense_layers=1, expert_every=1), "expert_layers") == 4


def test_model_with_latent_attention(count):
    mla = Architecture(
        name="mla", layers=1, hidden=16, heads=2, ffn=4, vocab=10, q_lora_rank=6, kv_lora_rank=5, qk_nope_head_dim=4,
        qk_rope_head_dim=2, v_head_dim=3,
    )  # fmt: skip
    queries = 16 * 6 + 6 + 6 * 2 * (4 + 2)  # down, its norm, up
    keys_and_values = 16 * (5 + 2) + 5 + 5 * 2 * (4 + 3)
    assert count(mla, "attention_parameters") == queries + keys_and_values + 2 * 3 * 16
    assert count(mla, "kv_elements_per_token") == 5 + 2
    straight = attrs.evolve(mla, q_lora_rank=0)
    assert count(straight, "attention_parameters") == 16 * 2 * (4 + 2) + keys_and_values + 2 * 3 * 16


def test_gpt_2(count):
    gpt2 = published()["GPT-2"]
    attention = 768 * 3 * 768 + 3 * 768 + 768 * 768 + 768
    mlp = 768 * 3072 + 3072 + 3072 * 768 + 768
    norms = 2 * (768 + 768)
    assert count(gpt2, "embedding_parameters") == 50257 * 768 + 1024 * 768
    assert count(gpt2, "dense_layer_parameters") == attention + mlp + norms == 7_087_872
    assert count(gpt2, "head_parameters") == 0  # tied
    assert count(gpt2, "parameters") == (50257 + 1024) * 768 + 12 * 7_087_872 + 2 * 768 == 124_439_808


def test_llama_2_70b_in_full(count):
    llama = published()["Llama-2-70B"]
    attention = 8192 * 8192 + 2 * (8192 * 8 * 128) + 8192 * 8192
    layer = attention + 3 * 8192 * 28672 + 2 * 8192
    assert count(llama, "dense_layer_parameters") == layer == 855_654_400
    assert count(llama, "parameters") == 80 * layer + 2 * 32000 * 8192 + 8192 == 68_976_648_192


def test_biases_and_extras(count):
    def more(**fields):
        return count(attrs.evolve(DENSE, **fields), "parameters") - count(DENSE, "parameters")

    assert more(qkv_bias=True) == 2 * (8 + 2 * 4)
    assert more(output_bias=True) == 2 * 8
    assert more(mlp_bias=True) == 2 * (16 + 16 + 8)
    assert more(rms_norm=False, norm_bias=True) == 5 * 8
    assert more(norm_weight=False) == -5 * 8
    assert more(norms=4) == 2 * 2 * 8
    assert more(qk_norm=True) == 2 * (2 + 2)
    assert more(qk_norm_full=True) == 2 * (4 * 2 + 2 * 2)
    assert more(attention_sinks=True) == 2 * 4
    assert more(learned_positions=7) == 7 * 8
    assert more(head_bias=True) == 10
    assert more(tied=True) == -10 * 8
    assert more(gated=False) == -2 * 8 * 16
    assert more(window=4, window_layers=1, max_positions=100, parallel=True) == 0


def test_scalar_head_takes_the_place_of_the_vocabulary(count):
    assert count(DENSE.with_scalar_head(), "parameters") == count(DENSE, "parameters") - 10 * 8 + 8
    tied = attrs.evolve(DENSE, tied=True)
    assert count(tied.with_scalar_head(), "parameters") == count(tied, "parameters") + 8
    biased = attrs.evolve(DENSE, head_bias=True)
    assert count(biased.with_scalar_head(), "head_parameters") == 8


def test_stated_count_wins(count):
    stated = Architecture(name="70B", parameters=70_000_000_000, layers=80, hidden=8192, heads=64, kv_heads=8)
    assert count(stated, "parameters") == 70e9
    assert count(stated, "kv_elements_per_token") == 2 * 8 * 128


def test_terms_are_plain_functions_and_in_the_language():
    assert terms.mlp_parameters(8, 16, 1, 0) == 384
    for term in terms.TERMS:
        assert term.per == {"model"}
        assert term.source
        assert term.formula.summary
        assert term.formula.expression is not None
    assert list(terms.TERMS) == terms.alignsim_terms(algorithm=None)
    declared = {value for value in vars(terms).values() if isinstance(value, Term)}
    assert declared == set(terms.TERMS)
