"""KTO: single answers that are good or bad, and an estimate of the divergence from answers to other prompts."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Algorithm, Given, hookimpl
from alignsim_plugins.algorithms.events import backward, forward, infer
from alignsim_plugins.losses.slot import ANSWERS

KTO = Algorithm(
    name="KTO",
    phases={"divergence": {"policy": "infer"}, "update": {"policy": "train", "reference": "infer"}},
    order={"update": (*forward("policy"), *infer("reference"), *backward("policy"))},
    model_of={"reference": "policy"},
    numbers={
        "rows_per_sample": Given(1.0, source="Ethayarajh et al. 2024, section 4: no pairs"),
        "input_bytes": Given(
            80.0,
            "byte/token",
            source="TRL 0.19: kto_trainer.py: 64-bit ids and masks of prompts, answers and both together, and labels; "
            "the same for the answers to other prompts (counted in the code, not measured)",
        ),
    },
    needs={"policy.loss": ANSWERS, "reference.loss": ANSWERS},
    source="Ethayarajh et al. 2024, eq. 7 and 8; TRL: kto_trainer.py, get_batch_loss_metrics: each model runs the "
    "answers to other prompts before its own, without gradients; the reference's two forwards are alike",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer KTO."""
    yield KTO
