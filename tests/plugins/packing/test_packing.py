"""How sequences make a batch."""

from __future__ import annotations

from alignsim_plugins.packing import token_budget
from small_runs import held, small_run


def value(name, **choices):
    return small_run(**choices).result.value(f"policy.{name}")


def test_one_row_of_all():
    assert value("tokens", packing="packed", rows=3) == value("row_tokens", packing="packed", rows=3) == 3 * 64
    assert value("rows", packing="packed", rows=3) == 3
    assert value("row_tokens", rows=3) == 64


def test_other_sequences_are_hidden_by_a_mask_unless_the_kernel_knows_of_them():
    assert value("attention_mask", packing="packed", rows=3) == (3 * 64) ** 2
    assert value("attention_mask", packing="packed", rows=3, attention="flash") == 0
    assert value("attention_mask", packing="equal", rows=3) == 0
    assert value("attention_mask", packing="padded", rows=3) == 3 * 64**2


def test_positions_are_of_the_row():
    assert value("rotary_tables", packing="packed", rows=3) == 3 * value("rotary_tables", packing="equal", rows=3)


def test_one_sequence_packed_is_one_row():
    for moment in ("forward_layers", "loss", "backward_first_layer"):
        packed = small_run(packing="packed", attention="flash")
        assert held(packed, moment) == held(small_run(attention="flash"), moment)


def test_a_budget_or_the_longest():
    assert token_budget.tokens(16384, 2048, 1, 1, 1) == 16384
    assert token_budget.tokens(16384, 20000, 1, 1, 1) == 20000
    assert token_budget.tokens(16384, 10000, 1, 1, 2) == 20000
    assert token_budget.tokens(16384, 70000, 4, 1, 1) == 17500
    assert token_budget.tokens(16384, 20000, 4, 1, 1) == 16384
    assert token_budget.rows(16384, 2048, 1, 1) == 8
    assert token_budget.rows(16384, 2048, 4, 1) == 32
    assert value("tokens", packing="token-budget", token_budget=1024, rows=99) == 1024
