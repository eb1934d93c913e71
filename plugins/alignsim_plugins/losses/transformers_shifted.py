"""Cross-entropy of older transformers: the logits in 32 bits, and a copy of them shifted by one token."""

from __future__ import annotations

from collections.abc import Iterator

from alignsim import Component, hookimpl
from alignsim_plugins.losses.coefficients import coefficients
from alignsim_plugins.losses.slot import CROSS_ENTROPY

COUNTED = "live storages of its operations counted on the meta device, torch 2.13"

TRANSFORMERS_4_44 = coefficients(
    "transformers-4.44",
    kinds={CROSS_ENTROPY},
    forward=(12, 12),
    held=(4, 4),
    backward=(12, 12),
    inside_forward=True,
    source="transformers up to 4.45.2: modeling_llama.py, logits.float() in the model's own forward, shift_logits "
    f"contiguous; {COUNTED}",
)
TRANSFORMERS_4_46 = coefficients(
    "transformers-4.46",
    kinds={CROSS_ENTROPY},
    forward=(14, 12),
    held=(4, 4),
    backward=(12, 12),
    inside_forward=True,
    source="transformers 4.46.0 to 4.48.3: loss/loss_utils.py, ForCausalLMLoss with shift_logits contiguous, the "
    f"caller holding the 16-bit logits; {COUNTED}",
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer the cross-entropy of older transformers."""
    yield TRANSFORMERS_4_44
    yield TRANSFORMERS_4_46
