"""Log-probabilities as verl computes them with FSDP: packed tokens, 16-bit logits, the cross-entropy of flash-attn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, at, hookimpl, maths, term
from alignsim.limits import COUNT
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.losses.coefficients import coefficients
from alignsim_plugins.losses.slot import CROSS_ENTROPY, TOKENS

MEASURED = "measured: live storages of the real functions on fake tensors, 16-bit logits; twice that in 32 bits"
LEGACY = "verl b178a3cd (January 2026): workers/actor/dp_actor.py, logits_rmpad.div_(temperature); "
ENTROPY = "verl b178a3cd (January 2026): utils/torch_functional.py, "
AUTOCAST = "measured: live storages of the real functions on fake tensors; 32-bit logits: as OpenRLHF's entropy"
CHUNKED = (
    f"{ENTROPY}entropy_from_logits_with_chunking, whose chunks keep a softmax and a copy in 32 bits; counted on the "
    "meta device with 16-bit logits and chunks of 1/16 to all of the tokens"
)
CHUNK = Const(2048, "token", source="verl: entropy_from_logits_with_chunking(chunk_size=2048)", limit=COUNT)


@term("token", per={"role"}, source=f"{ENTROPY}entropy_from_logits_with_chunking")
def chunk_tokens(logit_tokens: Any, entropy_chunk: Any = CHUNK) -> Any:
    """Tokens of one chunk."""
    return maths.minimum(logit_tokens, entropy_chunk)


@trained(live=at("backward_loss"))
def logits_in_backward(
    logit_tokens: Any, chunk_tokens: Any, vocab: Any, first_backward: Any, first_backward_chunk: Any, last_backward: Any
) -> Any:
    """One chunk's backward on top of what all keep; or the others', with three gradients of all logits."""
    return vocab * maths.maximum(
        first_backward * logit_tokens + first_backward_chunk * chunk_tokens,
        last_backward * (logit_tokens - chunk_tokens),
    )


VERL = (
    coefficients(
        "verl-2026.08",
        kinds={TOKENS, CROSS_ENTROPY},
        forward=(4, 8),
        held=(2, 4),
        backward=(4, 8),
        source="verl 1dda039b (August 2026): workers/engine/fsdp, logits / temperature, flash_attn cross_entropy_loss "
        f"with its gradient in place; {MEASURED}",
    ),
    coefficients(
        "verl-2026.01",
        kinds={TOKENS},
        forward=(2, 4),
        held=(2, 4),
        backward=(8, 16),
        source=f"{LEGACY}flash_attn cross_entropy_loss with its gradient in place; {MEASURED}",
    ),
    coefficients(
        "verl-2026.01-entropy",
        kinds={TOKENS},
        forward=(16, 12),
        held=(10, 8),
        backward=(26, 28),
        source=f"{ENTROPY}entropy_from_logits under autocast, its softmax in 32 bits; {AUTOCAST}",
    ),
    coefficients(
        "verl-2026.01-entropy-chunked",
        kinds={TOKENS},
        forward=(10, 8),
        held=(10, 8),
        backward=None,
        inferred=(2, 4),
        chunk={"forward": 4, "inferred": 12},
        terms=(chunk_tokens, logits_in_backward),
        defaults={
            "first_backward": Const(10, "byte", source=CHUNKED),
            "first_backward_chunk": Const(20, "byte", source=CHUNKED),
            "last_backward": Const(16, "byte", source=CHUNKED),
        },
        source=CHUNKED,
    ),
    coefficients(
        "verl-2026.01-entropy-checkpointed",
        kinds={TOKENS},
        forward=(16, 12),
        held=(2, 4),
        backward=(28, 28),
        source=f"{ENTROPY}entropy_checkpointing=True; {AUTOCAST}",
    ),
    coefficients(
        "verl-2026.01-entropy-compiled",
        kinds={TOKENS},
        forward=(4, 8),
        held=(2, 4),
        backward=(7, 14),
        ranges={"backward_narrow": (6, 8), "backward_wide": (12, 16)},
        source=f"{ENTROPY}entropy_from_logits under torch.compile (use_torch_compile, the default): row statistics are "
        "kept; reasoned, not measured",
    ),
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer verl's ways to log-probabilities and entropies."""
    yield from VERL
