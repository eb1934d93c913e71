"""AgileRL's log-probabilities: head and log-softmax by tiles of a quarter of a GiB, made again in backward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, maths, term
from alignsim_plugins.elements import FP32
from alignsim_plugins.losses.chunked_head import chunked_head
from alignsim_plugins.losses.slot import TOKENS

SOURCE = "AgileRL 2.8: algorithms/core/llm_ops/fused_logprobs.py, FusedLinearLogProbsFunction"
TILE = Const("256 MiB", "byte", source="AgileRL 2.8: _FUSED_LOGPROBS_WORKSPACE_BYTES, of a tile in 32 bits")


@term("token", per={"role"}, source="AgileRL 2.8: _resolve_fused_logprobs_chunk_rows, from 128 to 4096 tokens")
def chunk_tokens(head_tokens: Any, vocab: Any, logits_workspace: Any = TILE, fp32: Any = FP32) -> Any:
    """As many tokens as have a quarter of a GiB of logits in 32 bits."""
    return maths.minimum(
        head_tokens, maths.minimum(4096, maths.maximum(128, maths.floor(logits_workspace / (vocab * fp32))))
    )


AGILERL = chunked_head(
    "agilerl-2.8",
    kinds={TOKENS},
    chunk=(chunk_tokens,),
    forward=6,
    backward=(8, 4, 12),
    inferred=6,
    early=False,
    source=f"{SOURCE}: logits in 16 bits and their copy in 32; in backward a gradient of each as well, of which "
    "torch.compile may make fewer and eager code more (low, high); read there, not measured",
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer AgileRL's log-probabilities."""
    yield AGILERL
