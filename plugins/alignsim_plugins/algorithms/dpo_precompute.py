"""DPO whose reference runs before training: a phase of its own, after which only the policy is left.

The phase is passed through once, but a steady lap has it again and then with the optimizer's state beside it: what it
takes up for the first time is that of the first lap.
"""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Activity, Algorithm, hookimpl
from alignsim_plugins.algorithms.dpo import NUMBERS
from alignsim_plugins.losses.slot import PAIRS

GONE = Activity("gone", ("gone",), like="offloaded", resident=False)

DPO_PRECOMPUTE = Algorithm(
    name="DPO-Precompute",
    phases={"precompute": {"policy": "infer"}, "update": {"policy": "train"}},
    numbers=NUMBERS,
    needs={"policy.loss": PAIRS},
    source="TRL: dpo_trainer.py, precompute_ref_log_probs without a ref_model; open-instruct: dpo_tune_cache.py: the "
    "policy is its own reference before it is trained",
)

DPO_PRECOMPUTE_REFERENCE = Algorithm(
    name="DPO-Precompute-Reference",
    phases={"precompute": {"reference": "infer"}, "update": {"policy": "train", "reference": GONE}},
    model_of={"reference": "policy"},
    numbers=NUMBERS,
    needs={"policy.loss": PAIRS, "reference.loss": PAIRS},
    source="TRL: dpo_trainer.py, precompute_ref_log_probs with a ref_model, which is not needed afterwards",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer DPO with the phase before it."""
    yield DPO_PRECOMPUTE
    yield DPO_PRECOMPUTE_REFERENCE
