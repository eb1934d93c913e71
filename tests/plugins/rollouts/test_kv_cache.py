"""Keys and values of a rollout, against the reference case."""

from __future__ import annotations

from alignsim_plugins.rollouts.kv_cache import alignsim_terms, kv_cache, kv_elements_per_token


def test_one_token_of_one_layer():
    assert kv_elements_per_token(kv_heads=8, head_dim=128, kv_lora_rank=0, qk_rope_head_dim=0) == 2048
    assert kv_elements_per_token(kv_heads=128, head_dim=192, kv_lora_rank=512, qk_rope_head_dim=64) == 576


def test_reference_case():
    elements = kv_elements_per_token(8, 128, 0, 0)
    assert kv_cache(80, elements, 2.0, 1024, 256) == 85_899_345_920


def test_in_the_language():
    for term in (kv_elements_per_token, kv_cache):
        assert term.formula.expression is not None
    assert alignsim_terms(algorithm=None) == [kv_elements_per_token]
