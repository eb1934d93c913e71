"""Reward modelling: a model with a scalar head learns which of two answers is the better one."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Algorithm, Given, hookimpl
from alignsim_plugins.losses.slot import VALUES

RM = Algorithm(
    name="RM",
    phases={"update": {"reward": "train"}},
    scalar_heads=("reward",),
    numbers={
        "rows_per_sample": Given(2.0, source="Ouyang et al. 2022, eq. 1: a better and a worse answer"),
        "input_bytes": Given(8.0, "byte/token", source="token ids in 64 bits"),
    },
    needs={"reward.loss": VALUES},
    source="Ouyang et al. 2022 (InstructGPT), section 3.5, step 2",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer reward modelling."""
    yield RM
