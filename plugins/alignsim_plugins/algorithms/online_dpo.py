"""Online DPO: the policy answers twice, a reward model or a judge prefers one answer, and DPO learns from the pair."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Algorithm, Given, hookimpl
from alignsim_plugins.algorithms.events import backward, forward, infer, without
from alignsim_plugins.losses.slot import PAIRS, VALUES

TRL = "TRL: online_dpo_trainer.py, training_step"

ONLINE_DPO = Algorithm(
    name="Online-DPO",
    phases={
        "rollout": {"policy": "generate"},
        "update": {"policy": "train", "reference": "infer", "reward": "infer"},
    },
    order={"update": (*forward("policy"), *infer("reference"), *infer("reward"), *backward("policy"))},
    model_of={"reference": "policy"},
    scalar_heads=("reward",),
    numbers={
        "rows_per_sample": Given(2.0, source=f"Guo et al. 2024, algorithm 1: two answers to a prompt; {TRL}"),
        "input_bytes": Given(16.0, "byte/token", source="64-bit token ids and masks (counted, not measured)"),
    },
    needs={"policy.loss": PAIRS, "reference.loss": PAIRS, "reward.loss": VALUES},
    source=f"Guo et al. 2024, algorithm 1; {TRL}: the reference and the reward model run on top of the policy's "
    "activations",
)
ONLINE_DPO_JUDGE = without(
    ONLINE_DPO,
    "reward",
    name="Online-DPO-Judge",
    source=f"Guo et al. 2024, section 3.2: another model's API prefers, and takes no memory here; {TRL}, judge",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer online DPO with a reward model and with a judge elsewhere."""
    yield ONLINE_DPO
    yield ONLINE_DPO_JUDGE
