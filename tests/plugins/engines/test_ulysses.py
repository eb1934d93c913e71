"""Sequences divided over ranks: shares of tokens everywhere but in attention, shards over all ranks together."""

from __future__ import annotations

import pytest

from alignsim import Layout
from alignsim.errors import AlignSimError, CompositionError
from alignsim.testing.laws import assert_lawful

LONG = {
    "model": "Qwen2.5-7B",
    "precision": "bf16-gathered",
    "packing": "packed",
    "attention": "ulysses-flash",
    "loss": "verl-2026.08",
    "algorithm": "GRPO",
    "rollout": "none",
    "reduce_bytes": 4,
}


@pytest.fixture
def long(run):
    def one(engine="fsdp2", *, data=1, sequence=1, **more):
        return run(engine, layout=Layout(data=data, sequence=sequence), **{**LONG, **more})

    return one


@pytest.mark.parametrize("engine", ["fsdp1", "fsdp2"])
def test_ranks_that_share_sequences_share_states(long, engine):
    """A world of data x sequence ranks shards the model, however it divides the tokens."""
    wide, deep = long(engine, data=8), long(engine, data=2, sequence=4)
    for name in ("held_weights", "held_optimizer_state", "gradients_at_the_step", "weight_shards"):
        assert wide.held(name) == deep.held(name)
    assert (wide.held("model_parallel_devices"), deep.held("model_parallel_devices")) == (1, 4)


def test_tokens_are_divided_for_layers_and_logits(long):
    whole, share = long(data=8), long(data=2, sequence=4)
    assert share.held("tokens") == whole.held("tokens") / 4
    for name in ("saved_activations", "logits_held", "logits_at_loss", "rotary_tables"):
        assert share.held(name) == whole.held(name) / 4, name
    assert share.held("held_inputs") == whole.held("held_inputs")  # every rank is given all


def test_shares_are_padded_to_be_as_large_as_each_other(long):
    odd = long(sequence=4, data=2, packing="token-budget", token_budget=1)
    assert odd.held("tokens") == 512 / 4
    assert long(data=2, sequence=28).held("tokens") == 37 > 1024 / 28


def test_attention_keeps_its_output_twice_and_repeats_keys_for_ranks_without_one(long):
    """Qwen2.5-7B: 28 query heads and 4 key heads of 128 elements."""
    alone, four, many = (long(data=2, sequence=degree) for degree in (1, 4, 28))
    query, key = 28 * 128, 4 * 128
    assert alone.held("attention_saved") == 2 * (2 * query + 2 * key) + 4 * 28
    assert four.held("attention_saved") == alone.held("attention_saved") + 2 * query
    assert many.held("attention_saved") == four.held("attention_saved") + 2 * 2 * 6 * key  # seven copies of each


def test_one_rank_is_flash_attention(long):
    assert long(data=8).result.peak == long(data=8, attention="flash").result.peak


@pytest.mark.parametrize("sequence", [3, 8])
def test_heads_must_divide(long, sequence):
    with pytest.raises(CompositionError, match=rf"sequence: must divide .*heads, which is 28 .*; got {sequence}"):
        long(sequence=sequence)


@pytest.mark.parametrize("sequence", [7, 14])
def test_key_heads_must_be_dealt_out_or_repeated(long, sequence):
    """28 query heads would do; the 4 key heads do not."""
    expected = rf"sequence: must divide .*kv_heads, which is 4, or be a multiple of it .*; got {sequence}"
    with pytest.raises(CompositionError, match=expected):
        long(sequence=sequence)
    with pytest.raises(AlignSimError, match="must divide"):
        long().scenario.sweep(sequence=[1, sequence])


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ({"attention": "flash"}, "choose attention 'ulysses-flash'"),
        ({"packing": "padded"}, "choose packing 'packed' or 'token-budget'"),
        ({"engine": "ddp", "precision": "bf16"}, "a layout with more needs an engine that divides it"),
    ],
)
def test_what_does_not_divide_sequences_is_refused(long, choice, reason):
    with pytest.raises(CompositionError, match=f"sequence: must be at most 1 .*{reason}"):
        long(sequence=4, **choice)


@pytest.mark.parametrize("recompute", ["full", "none"])
@pytest.mark.parametrize("engine", ["fsdp1", "fsdp2", "fsdp2-cpu-offload"])
def test_the_laws(long, engine, recompute):
    assert_lawful(long(engine, data=2, sequence=4, recompute=recompute).scenario)


@pytest.mark.parametrize("engine", ["fsdp1", "fsdp2"])
def test_a_sweep_over_degrees_is_the_same_as_one_at_a_time(long, engine):
    scenario = long(engine).scenario
    degrees = [(data, sequence) for data in (1, 2, 3, 8) for sequence in (1, 2, 4, 28)]
    rows = scenario.sweep(data=[d for d, _ in degrees], sequence=[s for _, s in degrees])
    one = [
        scenario.using(layout=Layout(data=data, sequence=sequence)).result.value("allocated")
        for data, sequence in degrees
    ]
    assert rows.peak.tolist() == one
