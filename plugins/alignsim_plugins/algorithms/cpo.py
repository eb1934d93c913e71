"""CPO: training alone, of pairs, without a reference."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Algorithm, Given, hookimpl
from alignsim_plugins.losses.slot import PAIRS

TRL = "TRL: cpo_trainer.py, concatenated_forward"

CPO = Algorithm(
    name="CPO",
    phases={"update": {"policy": "train"}},
    numbers={
        "rows_per_sample": Given(2.0, source="Xu et al. 2024 (CPO), eq. 4: a preferred and a dis-preferred answer"),
        "input_bytes": Given(
            48.0,
            "byte/token",
            source="TRL 0.19: 64-bit ids, masks and labels of a batch, and their concatenation (counted in the code, "
            "not measured)",
        ),
    },
    needs={"policy.loss": PAIRS},
    source=f"Xu et al. 2024 (CPO), eq. 4: with a negative log-likelihood of the chosen; {TRL}",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer CPO."""
    yield CPO
