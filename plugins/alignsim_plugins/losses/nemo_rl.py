"""Log-probabilities as NeMo-RL computes them: logits in 32 bits, words divided over tensor ranks, one function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, maths, term
from alignsim.limits import COUNT
from alignsim_plugins.losses.coefficients import coefficients
from alignsim_plugins.losses.slot import CROSS_ENTROPY, PAIRS, TOKENS
from alignsim_plugins.packing.lengths import AS_CONFIGURED

FILE = "NeMo-RL 7ea279ab: distributed/model_utils.py, "
CHUNK = Const(
    1024, "token", source="NeMo-RL: logprob_chunk_size, which is off unless set; the size is an example", limit=COUNT
)


@term("token", per={"role"}, source=f"{FILE}ChunkedDistributedLogprob cuts sequences, all rows at once")
def chunk_tokens(
    rows: Any, sequence_tokens: Any, logprob_chunk_size: Any = CHUNK, length_share: Any = AS_CONFIGURED
) -> Any:
    """Tokens of one chunk: so many of every row."""
    return rows * maths.minimum(sequence_tokens * length_share, logprob_chunk_size)


NEMO_RL = (
    coefficients(
        "nemo-rl-7ea279a",
        kinds={CROSS_ENTROPY, PAIRS, TOKENS},
        forward=(16, 16),
        held=(4, 4),
        backward=(12, 12),
        source=f"{FILE}DistributedLogprob, log-softmax and softmax of all words of a rank; "
        "measured: live storages of the real functions on fake tensors",
    ),
    coefficients(
        "nemo-rl-7ea279a-chunked",
        kinds={CROSS_ENTROPY, PAIRS, TOKENS},
        forward=(2, 4),
        held=(2, 4),
        backward=(10, 12),
        terms=(chunk_tokens,),
        chunk={"forward": 12, "backward": 4, "inferred": 12},
        source=f"{FILE}ChunkedDistributedLogprob, gradients in 32 bits joined at the end; counted on the meta device "
        "with chunks of 1/16 to 1/4 of a sequence (a chunk of 32-bit logits is a view: up to 4 bytes less)",
    ),
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer NeMo-RL's log-probabilities."""
    yield from NEMO_RL
