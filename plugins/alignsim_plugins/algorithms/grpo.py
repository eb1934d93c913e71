"""GRPO: answers of a group are compared with each other, so that no critic is needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Algorithm, Given, hookimpl, term
from alignsim_plugins.elements import FP32, INT64
from alignsim_plugins.losses.logits import PROMPT
from alignsim_plugins.losses.slot import TOKENS

SOURCE = "TRL: grpo_trainer.py, _generate_and_score_completions: what it returns is a batch"
NUMBERS = {"rows_per_sample": Given(1.0, source="one row a sample")}
KL = Given(1.0, source="Shao et al. 2024 (DeepSeekMath), eq. 4: the reference's log-probabilities are in the loss")
NO_KL = Given(0.0, source="no reference, no log-probabilities of it")


@term("byte/token", per={"role"}, during={"train"}, source=SOURCE)
def input_bytes(
    sequence_tokens: Any, reference_log_probs: Any, prompt_tokens: Any = PROMPT, index: Any = INT64, fp32: Any = FP32
) -> Any:
    """Ids and mask of all tokens; of completions, masks, and log-probabilities of the policy and of a reference."""
    return 2 * index + (sequence_tokens - prompt_tokens) / sequence_tokens * (index + (2 + reference_log_probs) * fp32)


GRPO = Algorithm(
    name="GRPO",
    phases={
        "rollout": {"policy": "generate"},
        "score": {"policy": "infer", "reference": "infer"},
        "update": {"policy": "train"},
    },
    model_of={"reference": "policy"},
    numbers={**NUMBERS, "reference_log_probs": KL},
    terms=(input_bytes,),
    needs={"policy.loss": TOKENS, "reference.loss": TOKENS},
    source="Shao et al. 2024 (DeepSeekMath), algorithm 1",
)

GRPO_NO_KL = Algorithm(
    name="GRPO-No-KL",
    phases={"rollout": {"policy": "generate"}, "score": {"policy": "infer"}, "update": {"policy": "train"}},
    numbers={**NUMBERS, "reference_log_probs": NO_KL},
    terms=(input_bytes,),
    needs={"policy.loss": TOKENS},
    source="Yu et al. 2025 (DAPO), section 2.3: no KL term; TRL: beta=0.0, the default",
)


@hookimpl
def alignsim_algorithms() -> Iterator[Algorithm]:
    """Offer GRPO with a reference and without."""
    yield GRPO
    yield GRPO_NO_KL
