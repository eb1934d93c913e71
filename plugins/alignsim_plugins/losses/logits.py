"""Which tokens have logits and a loss, and in which format a model returns logits: terms that loss paths share."""

from __future__ import annotations

from typing import Any

from alignsim import Const, Limit, maths, term
from alignsim_plugins.elements import BF16, FP32, TRACES
from alignsim_plugins.packing.lengths import AS_CONFIGURED

PROMPT = Const(
    0, "token", source="nothing is said of prompts: every token may be a completion's", limit=Limit(whole=True)
)
WHOLE = Const(1, source="nothing is said of ranks that share a sequence: every rank has all of it")
CONVERTED = f"accelerate 1.15: utils/operations.py, convert_outputs_to_fp32; {TRACES}"


@term("token", per={"role"}, source="rows x (sequence - prompt)")
def completion_tokens(
    rows: Any,
    sequence_tokens: Any,
    tokens: Any,
    prompt_tokens: Any = PROMPT,
    context: Any = WHOLE,
    length_share: Any = AS_CONFIGURED,
) -> Any:
    """Tokens after the prompts; a rank that shares sequences may have no others, or has an even part of them.

    Of shorter sequences the prompt is taken to be the same part.
    """
    return maths.minimum(tokens, rows * (sequence_tokens - prompt_tokens / context) * length_share)


@term("token", per={"role"}, source="logits and labels are shifted by one")
def predicted_tokens(rows: Any, sequence_tokens: Any, tokens: Any, length_share: Any = AS_CONFIGURED) -> Any:
    """Every token that another one comes before."""
    return maths.minimum(tokens, rows * (sequence_tokens * length_share - 1))


@term("token", per={"role"}, source="labels of prompts are -100")
def loss_tokens(completion_tokens: Any, predicted_tokens: Any) -> Any:
    """Tokens that have a loss: the completions', each predicted by the one before it."""
    return maths.minimum(completion_tokens, predicted_tokens)


@term("byte", per={"role"}, source=CONVERTED)
def logit_bytes(autocast: Any, compute_bytes: Any, fp32: Any = FP32) -> Any:
    """Of a logit as the model returns it: under autocast, outputs are converted to 32 bits."""
    return maths.where(autocast > 0, fp32, compute_bytes)


@term("byte", per={"role"}, source=CONVERTED)
def conversion_bytes(autocast: Any, compute_bytes: Any, logit_bytes: Any) -> Any:
    """Of a logit while it is being converted: both formats."""
    return logit_bytes + autocast * compute_bytes


@term("", per={"role"}, source="TRL: selective_log_softmax takes another way for 16-bit logits")
def narrow_logits(logit_bytes: Any, half: Any = BF16) -> Any:
    """1 where the model returns 16-bit logits: log-softmax is then made whole, row by row."""
    return logit_bytes <= half


FORMATS = (logit_bytes, conversion_bytes)
