"""Supervised fine-tuning: one model learns to continue prompts."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Algorithm, Given, hookimpl
from alignsim_plugins.losses.slot import CROSS_ENTROPY, TOKENS

SFT = Algorithm(
    name="SFT",
    phases={"update": {"policy": "train"}},
    numbers={
        "rows_per_sample": Given(1.0, source="one row a sample"),
        "input_bytes": Given(24.0, "byte/token", source="token ids, labels and mask in 64 bits"),
    },
    needs={"policy.loss": (CROSS_ENTROPY, TOKENS)},
    source="Ouyang et al. 2022 (InstructGPT), section 3.5, step 1",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer supervised fine-tuning."""
    yield SFT
