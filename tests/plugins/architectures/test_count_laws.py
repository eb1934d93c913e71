"""Laws that hold for counts of any shape."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignsim import Architecture

SMALL = st.integers(1, 40)


@st.composite
def architectures(draw):
    kv_heads, group, head_dim = draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.integers(1, 16))
    shape = {
        "name": "any", "layers": draw(SMALL), "hidden": draw(SMALL), "heads": kv_heads * group, "kv_heads": kv_heads,
        "head_dim": head_dim, "ffn": draw(SMALL), "vocab": draw(SMALL), "norms": draw(st.integers(0, 4)),
    }  # fmt: skip
    shape |= {flag: draw(st.booleans()) for flag in ("tied", "gated", "mlp_bias", "head_bias", "parallel")}
    if draw(st.booleans()):
        shape |= {"kv_lora_rank": draw(SMALL), "q_lora_rank": draw(st.integers(0, 8))}
        shape |= {"qk_nope_head_dim": draw(SMALL), "qk_rope_head_dim": draw(SMALL), "v_head_dim": draw(SMALL)}
    else:
        shape |= {flag: draw(st.booleans()) for flag in ("qkv_bias", "output_bias", "qk_norm", "attention_sinks")}
    if draw(st.booleans()):
        experts = draw(st.integers(1, 8))
        shape |= {"experts": experts, "experts_per_token": draw(st.integers(1, experts)), "expert_ffn": draw(SMALL)}
        shape |= {"dense_layers": draw(st.integers(0, shape["layers"])), "router_bias": draw(st.booleans())}
        shape |= {"expert_every": draw(st.integers(1, shape["layers"])), "expert_bias": draw(st.booleans())}
        if draw(st.booleans()):
            shape |= {"shared_experts": draw(SMALL), "shared_ffn": draw(SMALL), "shared_gate": draw(st.booleans())}
    return Architecture(**shape)


@given(architectures())
def test_counts_are_whole_and_positive(count, model):
    for term in ("parameters", "active_parameters", "embedding_parameters", "attention_parameters", "mlp_parameters"):
        value = count(model, term)
        assert value > 0
        assert value == int(value)
    assert count(model, "active_parameters") <= count(model, "parameters")


@given(architectures(), st.sampled_from(["layers", "hidden", "vocab", "ffn", "expert_ffn", "learned_positions"]), SMALL)
def test_more_is_never_less(count, model, field, more):
    if field == "expert_ffn" and not model.experts:
        return
    larger = attrs.evolve(model, **{field: getattr(model, field) + more})
    assert count(larger, "parameters") >= count(model, "parameters")


@given(architectures())
def test_one_more_layer_costs_one_layer(count, model):
    if model.expert_every > 1:
        return
    layer = "expert_layer_parameters" if model.experts else "dense_layer_parameters"
    larger = attrs.evolve(model, layers=model.layers + 1)
    assert count(larger, "parameters") - count(model, "parameters") == count(model, layer)


@given(architectures())
def test_all_heads_of_their_own_is_the_same_as_saying_nothing(count, model):
    own = attrs.evolve(model, kv_heads=model.heads)
    absent = attrs.evolve(model, kv_heads=None)
    assert own == absent
    assert count(own, "parameters") == count(absent, "parameters")


@given(architectures())
def test_tying_saves_the_matrix_of_the_head(count, model):
    tied, untied = attrs.evolve(model, tied=True), attrs.evolve(model, tied=False)
    assert count(untied, "parameters") - count(tied, "parameters") == model.vocab * model.hidden


@given(architectures())
def test_scalar_head_does_not_depend_on_tying(count, model):
    tied, untied = attrs.evolve(model, tied=True), attrs.evolve(model, tied=False)
    assert count(tied.with_scalar_head(), "parameters") == count(untied.with_scalar_head(), "parameters")
    assert (
        count(untied.with_scalar_head(), "parameters")
        == count(untied, "parameters") - count(untied, "head_parameters") + model.hidden
    )


@given(architectures())
def test_all_experts_chosen_is_all_parameters(count, model):
    chosen = attrs.evolve(model, experts_per_token=model.experts)
    assert count(chosen, "active_parameters") == count(model, "parameters")


@given(architectures(), st.integers(1, 10**15))
def test_stated_count_wins_over_any_shape(count, model, parameters):
    assert count(attrs.evolve(model, parameters=parameters), "parameters") == parameters


@pytest.mark.parametrize("group", [1, 2, 4, 8])
def test_grouping_saves_keys_and_values_alone(count, group):
    model = Architecture(name="g", layers=1, hidden=64, heads=8, kv_heads=8 // group, ffn=4, vocab=4)
    assert count(model, "attention_parameters") == 2 * 64 * 64 + 2 * 64 * 64 // group
    assert count(model, "kv_elements_per_token") == 2 * 64 // group
