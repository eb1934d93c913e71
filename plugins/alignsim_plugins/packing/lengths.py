"""What real lengths make of a micro-batch, as a share of the length that is configured.

The largest micro-batch of a run decides. Rows that are padded are as long as the longest sequence, which comes sooner
or later. Rows that are put end to end come near their mean: the sum of ``n`` lengths strays from ``n`` means by the
root of ``n`` times what one strays; and one of them may be the longest of all.
"""

from __future__ import annotations

from typing import Any

from alignsim import Const, maths, term
from alignsim.limits import SIZE

UNKNOWN = "not known: every sequence is taken to be as long as configured, unless the longest is known"
LONGEST = Const(0, "token", source=UNKNOWN, limit=SIZE)
AS_LONG = Const(0, "token", source=UNKNOWN, limit=SIZE)
AS_CONFIGURED = Const(1, source="every sequence is as long as configured")
"""Of ``length_share``, for who reads it beside a packing that says nothing of it."""

SUM = "99 of 100 sums: the deviation of a sum of n independent lengths is that of one times the root of n"


@term("", per={"role"}, source="the longest sequence over the length that is configured")
def longest_share(sequence_tokens: Any, context: Any, longest_tokens: Any = LONGEST) -> Any:
    """Of the longest sequence; 1 where that is not known. Ranks that share sequences have their part of both."""
    return maths.where(longest_tokens > 0, maths.minimum(1, longest_tokens / (context * sequence_tokens)), 1)


@term("", per={"role"}, source="the mean over the length that is configured")
def mean_share(sequence_tokens: Any, context: Any, longest_share: Any, mean_tokens: Any = AS_LONG) -> Any:
    """Of a sequence in the mean; the longest's where the mean is not known."""
    return maths.where(
        mean_tokens > 0, maths.minimum(longest_share, mean_tokens / (context * sequence_tokens)), longest_share
    )


@term("", per={"role"}, source="the 99th percentile over the length that is configured")
def p99_share(sequence_tokens: Any, context: Any, longest_share: Any, p99_tokens: Any = AS_LONG) -> Any:
    """Of a sequence that 99 of 100 are not longer than; the longest's where that is not known."""
    return maths.where(
        p99_tokens > 0, maths.minimum(longest_share, p99_tokens / (context * sequence_tokens)), longest_share
    )


@term("", per={"role"}, name="length_share", source="a batch is padded to its longest row")
def padded_share(longest_share: Any) -> Any:
    """All rows of the largest micro-batch are as long as the longest sequence."""
    return longest_share


@term("", per={"role"}, name="length_share", source=SUM)
def packed_share(rows: Any, longest_share: Any, mean_share: Any, p99_share: Any) -> Any:
    """Of a row in the mean, in the largest micro-batch: a sum that few exceed, or the longest among mean ones."""
    return maths.minimum(
        longest_share,
        mean_share + maths.maximum((p99_share - mean_share) / maths.sqrt(rows), (longest_share - mean_share) / rows),
    )


@term("", per={"role"}, name="length_share", source="verl: a budget is filled with as many sequences as go into it")
def budget_share(mean_share: Any) -> Any:
    """Of a row in the mean: how many go into a budget depends on it, and not how many tokens."""
    return mean_share


@term("", per={"role"}, source="tokens of the rank with the largest micro-batch over those of a mean one")
def rank_imbalance(length_share: Any, mean_share: Any) -> Any:
    """How much more the rank with the largest micro-batch has than ranks have in the mean."""
    return length_share / mean_share


SHARES = (longest_share, mean_share, p99_share, rank_imbalance)
