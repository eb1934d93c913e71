"""DPO: the policy learns from pairs, with a frozen reference beside it."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Algorithm, hookimpl

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
    source="Rafailov et al. 2023, eq. 7: the reference's forward runs while the policy's activations are held",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer DPO."""
    yield DPO
