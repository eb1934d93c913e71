"""Micro-batches of as many sequences as a budget of tokens allows, put end to end in one row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, maths, term
from alignsim.limits import COUNT
from alignsim_plugins.elements import ONE_ROW
from alignsim_plugins.packing.lengths import SHARES, budget_share
from alignsim_plugins.packing.packed import row_tokens
from alignsim_plugins.packing.slot import PACKING

SOURCE = "verl: use_dynamic_bsz, utils/seqlen_balancing.py: rearrange_micro_batches"


@term("token", per={"role"}, source=SOURCE)
def tokens(
    token_budget: Any, sequence_tokens: Any, sequence: Any, longest_share: Any, rows_per_sample: Any = ONE_ROW
) -> Any:
    """The budget of a rank; or its share of the longest sample, where that alone is longer."""
    return maths.maximum(token_budget, maths.ceil(rows_per_sample * sequence_tokens * longest_share / sequence))


@term("sequence", per={"role"}, source=SOURCE)
def rows(tokens: Any, sequence_tokens: Any, sequence: Any, length_share: Any) -> Any:
    """Sequences that go into it; of their mean length, and so not a whole number."""
    return tokens * sequence / (sequence_tokens * length_share)


@term("", per={"role"}, source=SOURCE)
def rank_imbalance(tokens: Any, token_budget: Any) -> Any:
    """All ranks fill the budget; but for one with a sample that is longer."""
    return tokens / token_budget


TOKEN_BUDGET = Component(
    name="token-budget",
    slot=PACKING,
    terms=(rows, tokens, row_tokens, budget_share, rank_imbalance, *SHARES[:-1]),
    defaults={
        "token_budget": Const(16384, "token", source="verl: ppo_max_token_len_per_gpu", limit=COUNT),
        "padded": Const(0, source=SOURCE),
        "packed": Const(1, source=SOURCE),
    },
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer micro-batches by a budget of tokens."""
    yield TOKEN_BUDGET
