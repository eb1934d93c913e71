"""Sequences put end to end in one row: nothing is padded, and attention stays within each.

Where real lengths are not known, ``sequence_tokens`` stands for their mean, or for the length that whole rows were
packed to before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, maths, term
from alignsim_plugins.packing.equal import rows
from alignsim_plugins.packing.lengths import SHARES, packed_share
from alignsim_plugins.packing.slot import PACKING

SOURCE = "transformers 5.24: DataCollatorWithFlattening; Krell et al. 2021 (packing without cross-contamination)"


@term("token", per={"role"}, source="verl: utils/ulysses.py, ulysses_pad_and_slice_inputs")
def tokens(rows: Any, sequence_tokens: Any, sequence: Any, length_share: Any) -> Any:
    """Tokens of one forward: this rank's share, padded to be as many as that of the others."""
    return maths.ceil(rows * sequence_tokens * length_share / sequence)


@term("token", per={"role"}, source=SOURCE)
def row_tokens(tokens: Any) -> Any:
    """There is one row."""
    return tokens


PACKED = Component(
    name="packed",
    slot=PACKING,
    terms=(rows, tokens, row_tokens, packed_share, *SHARES),
    defaults={"padded": Const(0, source=SOURCE), "packed": Const(1, source=SOURCE)},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer packed rows."""
    yield PACKED
