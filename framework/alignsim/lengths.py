"""How long sequences really are, where that is known: beside the lengths that a batch is configured for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import attrs

from alignsim.batch import Batch
from alignsim.errors import Problem
from alignsim.given import Given, Inputs, described, within
from alignsim.limits import COUNT

PATHS = {"mean": "mean_tokens", "p99": "p99_tokens", "maximum": "longest_tokens"}
"""How the graph calls the numbers."""


@described
@attrs.frozen(kw_only=True)
class Lengths(Inputs):
    """Tokens of whole sequences, prompt and answer, as they were measured. What is None is not known.

    How a batch is packed decides what follows: rows that are padded are as long as the longest of all, rows that are
    put end to end come near the mean.

    Attributes:
        mean: tokens of a sequence in the mean.
        p99: as many tokens or fewer have 99 of 100 sequences.
        maximum: tokens of the longest.

    >>> sorted(Lengths(mean=900, maximum=4096).numbers())
    ['longest_tokens', 'mean_tokens']
    """

    mean: float | None = attrs.field(default=None, validator=within(attrs.evolve(COUNT, whole=False)))
    p99: float | None = attrs.field(default=None, validator=within(attrs.evolve(COUNT, whole=False)))
    maximum: float | None = attrs.field(default=None, validator=within(attrs.evolve(COUNT, whole=False)))

    def numbers(self) -> dict[str, Given]:
        """Return what is known by the names that formulas ask for."""
        return {
            path: Given(float(value), "token", source=self.sources.get(name, self.source), obtained="measured")
            for name, path in PATHS.items()
            if (value := getattr(self, name)) is not None
        }

    def problems(self) -> Iterator[Problem]:
        """Yield where the numbers are not in order."""
        known = [(name, getattr(self, name)) for name in PATHS if getattr(self, name) is not None]
        for (name, value), (next_name, next_value) in pairwise(known):
            if value > next_value:
                yield Problem(next_name, f"must be at least {name}, which is {value:g}; got {next_value:g}")
        if self.maximum is None and known:
            yield Problem("maximum", "is needed beside the others: the longest sequence comes sooner or later")

    def beyond(self, batch: Batch) -> Iterator[Problem]:
        """Yield where sequences are longer than a batch is configured for: longer ones would be cut."""
        configured = batch.sequence_tokens
        if self.maximum is not None and configured is not None and self.maximum > configured:
            message = f"is {self.maximum:g}, but batch.sequence_tokens cuts sequences at {configured}"
            yield Problem("lengths.maximum", message)
