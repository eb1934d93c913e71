"""DPO: the policy learns from pairs, with a frozen reference beside it."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Algorithm, Given, hookimpl
from alignsim_plugins.losses.slot import PAIRS

NUMBERS = {
    "rows_per_sample": Given(2.0, source="Rafailov et al. 2023, eq. 7: a chosen and a rejected answer"),
    "input_bytes": Given(
        30.0,
        "byte/token",
        source="TRL 0.19: token ids, masks and labels in 64 bits, and parts of them joined and shifted",
    ),
}

SAME_TABLE = "the table is DPO's, since only a function of the four log-probabilities differs; TRL: dpo_trainer.py, "
"""Why others have DPO's table."""

DPO = Algorithm(
    name="DPO",
    phases={"update": {"policy": "train", "reference": "infer"}},
    order={
        "update": (
            "policy.forward_layers",
            "policy.forward_head",
            "policy.loss",
            "reference.forward_layers",
            "reference.forward_head",
            "reference.loss",
            "policy.backward_loss",
            "policy.backward_head",
            "policy.backward_last_layer",
            "policy.backward_first_layer",
            "policy.backward_end",
            "policy.optimizer_step",
        )
    },
    model_of={"reference": "policy"},
    numbers=NUMBERS,
    needs={"policy.loss": PAIRS, "reference.loss": PAIRS},
    source="Rafailov et al. 2023, eq. 7: the reference's forward runs while the policy's activations are held",
)

DPO_NO_REF = Algorithm(
    name="DPO-No-Ref",
    phases={"update": {"policy": "train"}},
    numbers=NUMBERS,
    needs={"policy.loss": PAIRS},
    source="TRL: precompute_ref_log_probs, the reference's log-probabilities are of the data set",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer DPO, and DPO with the reference's log-probabilities at hand."""
    yield DPO
    yield DPO_NO_REF
