"""Rows of one length, with nothing to hide: no mask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, Limit, hookimpl, term
from alignsim_plugins.elements import ONE_ROW
from alignsim_plugins.packing.lengths import SHARES, padded_share
from alignsim_plugins.packing.slot import PACKING

SOURCE = "a batch of equally long rows"
WHOLE_ROWS = Limit(1, because="a rank has all tokens of its rows; choose packing 'packed' or 'token-budget'")
"""Of a layout: sequences are divided where they are put end to end."""


@term("sequence", per={"role"}, source=SOURCE)
def rows(micro_batch: Any, rows_per_sample: Any = ONE_ROW) -> Any:
    """Rows of one forward: a sample of a preference algorithm is a pair."""
    return micro_batch * rows_per_sample


@term("token", per={"role"}, source=SOURCE)
def tokens(rows: Any, row_tokens: Any) -> Any:
    """Tokens of one forward."""
    return rows * row_tokens


@term("token", per={"role"}, source=SOURCE)
def row_tokens(sequence_tokens: Any, length_share: Any) -> Any:
    """One sequence a row, all as long as the longest."""
    return sequence_tokens * length_share


EQUAL = Component(
    name="equal",
    slot=PACKING,
    terms=(rows, tokens, row_tokens, padded_share, *SHARES),
    defaults={
        "padded": Const(0, source=SOURCE),
        "packed": Const(0, source=SOURCE),
        "varying_shapes": Const(0, source=SOURCE),
    },
    limits={"sequence": WHOLE_ROWS},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer rows of one length."""
    yield EQUAL
