"""The cross-entropy of Megatron: words divided over tensor ranks, softmax in 32 bits in the place of the logits."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, hookimpl
from alignsim_plugins.losses.coefficients import coefficients
from alignsim_plugins.losses.slot import ANSWERS, CROSS_ENTROPY, PAIRS, TOKENS

FILE = "Megatron-LM d98e8a64: core/tensor_parallel/cross_entropy.py, vocab_parallel_cross_entropy"
MEASURED = "measured: live storages of the real functions on fake tensors"

MEGATRON = coefficients(
    "megatron-d98e8a6",
    kinds={ANSWERS, CROSS_ENTROPY, PAIRS, TOKENS},
    forward=(6, 4),
    held=(4, 4),
    backward=(6, 4),
    source=f"{FILE}; {MEASURED}; 32-bit logits: without the 16-bit ones",
)
MEGATRON_TE = coefficients(
    "megatron-te-cross-entropy",
    forward=(2, 4),
    held=(2, 4),
    backward=(2, 4),
    kinds={ANSWERS, CROSS_ENTROPY, PAIRS, TOKENS},
    source="Megatron-LM: cross_entropy_fusion_impl te; TransformerEngine: common/triton/cross_entropy.py, the gradient "
    "takes the place of the logits",
)
MEGATRON_ENTROPY = coefficients(
    "verl-megatron-b178a3c-entropy",
    kinds={TOKENS},
    forward=(10, 8),
    held=(8, 8),
    backward=(10, 8),
    ranges={
        "forward_narrow": (8, 12),
        "held_narrow": (6, 10),
        "backward_narrow": (8, 12),
        "forward_wide": (6, 10),
        "held_wide": (6, 10),
        "backward_wide": (6, 10),
    },
    source=f"verl b178a3cd (January 2026): utils/megatron, vocab_parallel_entropy of a clone of the logits: "
    f"2 to 6 bytes more than {FILE}; measured as a range in forward, taken over to backward",
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer Megatron's cross-entropy, TransformerEngine's, and verl's entropy beside Megatron's."""
    yield MEGATRON
    yield MEGATRON_TE
    yield MEGATRON_ENTROPY
