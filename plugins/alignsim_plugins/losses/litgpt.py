"""LitGPT's cross-entropy of fine-tuning with adapters: chunks of 128 tokens, and logits that the loop holds on to.

The head gives logits chunk by chunk; all of them are kept. Lightning's wrapper of the model turns its outputs to 32
bits (PyTorch's default format), and the training loop holds these until it has the next ones. In backward, every
chunk's gradient exists, in 16 bits, before the head's backward begins. Later batches find the logits of the one before
them still there: LitGPT begins with the longest sample and pads no other to it, so that this is not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, maths, span, term
from alignsim.limits import COUNT
from alignsim_plugins.activations.instants import trained
from alignsim_plugins.elements import FP32
from alignsim_plugins.losses.coefficients import coefficients
from alignsim_plugins.losses.head import head_input_gradient as whole_gradient
from alignsim_plugins.losses.slot import CROSS_ENTROPY
from alignsim_plugins.packing.lengths import AS_CONFIGURED

FABRIC = "Lightning 2.1: fabric/wrappers.py, _FabricModule.forward; fabric/plugins/precision, convert_output"
LOSS = "LitGPT 0.2: litgpt/utils.py, chunked_cross_entropy"
SOURCE = f"{LOSS}; litgpt/finetune/lora.py, fit; {FABRIC}; live storages of the code on fake tensors"
CHUNK = Const(128, "token", source="LitGPT 0.2: litgpt/finetune/lora.py, lm_head_chunk_size=128", limit=COUNT)
LET_GO = Const(0, source="torch.autograd: a product by a frozen matrix does not keep what it multiplies")


@term("token", per={"role"}, source=f"{LOSS} cuts sequences, all rows at once")
def chunk_tokens(
    rows: Any, sequence_tokens: Any, head_chunk_tokens: Any = CHUNK, length_share: Any = AS_CONFIGURED
) -> Any:
    """Tokens of one chunk: so many of every row."""
    return rows * maths.minimum(sequence_tokens * length_share, head_chunk_tokens)


@term("byte", per={"role"}, source=FABRIC)
def logit_bytes(fp32: Any = FP32) -> Any:
    """Of a logit as the wrapped model returns it."""
    return fp32


@term("byte", per={"role"}, during={"train"}, source="torch.autograd; bitsandbytes 0.41: MatMul4Bit keeps its operands")
def head_input_saved(
    frozen_head: Any, compute_bytes: Any, hidden: Any, head_tokens: Any, keeps_frozen_inputs: Any = LET_GO
) -> Any:
    """The head's input, which its weight's gradient needs; an old 4-bit kernel keeps it for nothing."""
    return maths.where(frozen_head > 0, keeps_frozen_inputs, 1) * compute_bytes * hidden * head_tokens


@trained(live=whole_gradient.live, source=f"{LOSS}: the head's backward goes chunk by chunk")
def head_input_gradient(compute_bytes: Any, hidden: Any, chunk_tokens: Any) -> Any:
    """The gradient of one chunk of the head's input: with each, as many gradients of logits are gone."""
    return compute_bytes * hidden * chunk_tokens


@trained(live=span("backward_head", "backward_end"), source=SOURCE)
def returned_logits(logit_tokens: Any, vocab: Any, logit_bytes: Any) -> Any:
    """The loop's variable, which backward has no use for."""
    return logit_tokens * vocab * logit_bytes


LITGPT = coefficients(
    "litgpt",
    kinds={CROSS_ENTROPY},
    forward=(8, 8),
    held=(8, 8),
    backward=(8, 8),
    chunk={"backward": 8},
    terms=(chunk_tokens, logit_bytes, head_input_saved, head_input_gradient, returned_logits),
    source=SOURCE,
)
"""Logits and their log-softmax, 4 bytes each; a chunk's gradient of either as the log-softmax is taken back."""


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer LitGPT's loss."""
    yield LITGPT
