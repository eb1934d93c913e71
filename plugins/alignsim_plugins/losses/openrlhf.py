"""Log-probabilities as OpenRLHF computes them: all logits in 32 bits, those of prompts too, held by the caller."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, hookimpl
from alignsim_plugins.losses.coefficients import coefficients
from alignsim_plugins.losses.slot import ANSWERS, CROSS_ENTROPY, PAIRS, TOKENS

FILE = "OpenRLHF 3c3be623: models/actor.py, output logits to float32; models/utils.py, "
MEASURED = "measured: live storages of the real functions on fake tensors; 32-bit logits of the model itself: the same"

OPENRLHF = (
    coefficients(
        "openrlhf-3c3be62",
        kinds={ANSWERS, CROSS_ENTROPY, PAIRS, TOKENS},
        forward=(6, 4),
        held=(4, 4),
        backward=(10, 10),
        source=f"{FILE}log_probs_from_logits with the cross-entropy of flash-attn; {MEASURED}",
    ),
    coefficients(
        "openrlhf-3c3be62-plain",
        kinds={ANSWERS, CROSS_ENTROPY, PAIRS, TOKENS},
        forward=(6, 4),
        held=(4, 4),
        backward=(16, 16),
        source=f"{FILE}log_probs_from_logits where flash-attn has none: gather and logsumexp in chunks; {MEASURED}",
    ),
    coefficients(
        "openrlhf-3c3be62-entropy",
        kinds={TOKENS},
        forward=(12, 12),
        held=(8, 8),
        backward=(28, 28),
        inferred=(6, 4),
        source=f"{FILE}compute_entropy, softmax of all logits, where an entropy is in the loss; {MEASURED}",
    ),
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer OpenRLHF's log-probabilities."""
    yield from OPENRLHF
