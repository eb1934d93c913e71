"""Runs that others have told of: what each says of itself, in our words; the rest is a framework's preset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from alignsim import Scenario, default_registry
from alignsim.frozen import FrozenDict
from alignsim.runfile import scenario_of

CLOSE = "close call"


@attrs.frozen
class Published:
    """A run that is known to run, or to run out of memory.

    Attributes:
        key: how people find it again.
        source: who says so, where.
        runs: whether it is said to run.
        data: the run, as plain data.
        lengths: what the lengths are.
        measured: what was measured, in GiB, by figure: allocated, reserved, device.
        assumed: what its teller does not say.
    """

    key: str
    source: str
    runs: bool
    data: Mapping[str, Any]
    lengths: str = "as configured"
    measured: Mapping[str, float] = FrozenDict()
    assumed: str = ""

    @property
    def scenario(self) -> Scenario:
        """The run."""
        return scenario_of({"name": self.key, **self.data}, default_registry(), self.key)

    @property
    def told(self) -> str:
        """The verdict: the worst of all pools and of the conditions."""
        verdict = self.scenario.result.verdict
        return verdict.status if verdict else ""

    @property
    def disagrees(self) -> bool:
        """Whether the verdict is the other one; a close call is none."""
        return self.told == ("does not fit" if self.runs else "fits")
