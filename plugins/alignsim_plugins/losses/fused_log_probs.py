"""Log-probabilities without whole logits in reinforcement learning: head and loss by chunks, made again in backward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, maths, term
from alignsim.limits import COUNT
from alignsim_plugins.losses.chunked_head import chunked_head
from alignsim_plugins.losses.slot import TOKENS
from alignsim_plugins.packing.lengths import AS_CONFIGURED

VERL = "verl b178a3cd (January 2026): utils/experimental/torch_functional.py, FusedLinearForPPO"
NEMO_RL = "NeMo-RL 7ea279ab: distributed/model_utils.py, FusedLMHeadDistributedLogprob"
VERL_CHUNK = Const(512, "token", source=f"{VERL}(chunk_size=512)", limit=COUNT)
NEMO_RL_CHUNK = Const(256, "token", source="NeMo-RL: use_fused_linear_logprobs, chunks of 256", limit=COUNT)


@term("token", per={"role"}, source=VERL, name="chunk_tokens")
def verl_chunk_tokens(head_tokens: Any, fused_chunk: Any = VERL_CHUNK) -> Any:
    """Tokens of one chunk of the packed tokens."""
    return maths.minimum(head_tokens, fused_chunk)


@term("token", per={"role"}, source=NEMO_RL, name="chunk_tokens")
def nemo_rl_chunk_tokens(
    rows: Any, sequence_tokens: Any, fused_chunk: Any = NEMO_RL_CHUNK, length_share: Any = AS_CONFIGURED
) -> Any:
    """Tokens of one chunk: so many of every row."""
    return rows * maths.minimum(sequence_tokens * length_share, fused_chunk)


FUSED = (
    chunked_head(
        "verl-2026.01-fused",
        kinds={TOKENS},
        chunk=(verl_chunk_tokens,),
        forward=16,
        backward=(20, 16, 20),
        inferred=16,
        early=False,
        head_products=1,
        source=f"{VERL}, use_fused_kernels: logits, softmax, logarithm and entropy in 32 bits; measured: live storages "
        "of the real functions on fake tensors, 16 to 20 bytes and a product of the size of the head",
    ),
    chunked_head(
        "nemo-rl-7ea279a-fused",
        kinds={TOKENS},
        chunk=(nemo_rl_chunk_tokens,),
        forward=12,
        backward=12,
        inferred=12,
        early=False,
        source=f"{NEMO_RL}: logits, their shifted copy and its exponential in 32 bits; the head's gradient is added up "
        "in place; read there, not measured",
    ),
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer the fused log-probabilities of verl and NeMo-RL."""
    yield from FUSED
