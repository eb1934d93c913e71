"""Rows padded to the longest of a batch: the layers see the padding, and a mask hides it from attention."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, Const, hookimpl
from alignsim_plugins.packing.equal import WHOLE_ROWS, row_tokens, rows, tokens
from alignsim_plugins.packing.lengths import SHARES, padded_share
from alignsim_plugins.packing.slot import PACKING

SOURCE = "transformers: DataCollatorWithPadding pads to the longest row and makes an attention mask"

PADDED = Component(
    name="padded",
    slot=PACKING,
    terms=(rows, tokens, row_tokens, padded_share, *SHARES),
    defaults={"padded": Const(1, source=SOURCE), "packed": Const(0, source=SOURCE)},
    limits={"sequence": WHOLE_ROWS},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer padded rows."""
    yield PADDED
