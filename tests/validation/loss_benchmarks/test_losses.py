"""Loss benchmarks of Liger-Kernel and XTuner: the tensors that each number is made of.

Every row runs its loss several times, so that the gradient of the run before is still there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from alignsim import Architecture, Batch, Scenario

FIGURES = json.loads(Path(__file__).with_name("figures.json").read_text(encoding="utf-8"))
MIB = 2.0**20
SFT: Any = "SFT"
ON_ONE_DEVICE: Any = {
    "precision": "fp32",
    "optimizer": "adamw-fused",
    "adapter": "full",
    "recompute": "none",
    "attention": "sdpa",
    "loss": "cross-entropy",
    "engine": "single-device",
    "layers": "transformers",
    "packing": "equal",
}
WORKSPACES = 2 * 8.125 * MIB  # cuBLAS before Hopper: one for each of two handles


def hugging_face_cross_entropy(tokens: float, vocab: float) -> float:
    """Log-softmax and two gradients, as our component counts them; logits, their gradient of the run before, labels."""
    return (of_a_token_and_word() + 2 * 4) * vocab * tokens + 8 * tokens


def liger_cross_entropy(tokens: float, vocab: float) -> float:
    """The logits, which their gradient takes the place of; labels, and a loss a token."""
    return 4 * vocab * tokens + (8 + 4) * tokens


def head_and_cross_entropy(tokens: float, vocab: float, hidden: float) -> float:
    """The head, its gradient and that of the run before; three times the logits in 16 bits; hidden states; labels."""
    return 3 * 2 * vocab * hidden + (3 * 2 * vocab + 2 * 2 * hidden + 8) * tokens + WORKSPACES


def linear(formula: str, tokens: float, vocab: float, hidden: float) -> float:
    """What was found to fit beside a row: ``(14V+4H+8)*B*T + 5106.3 MiB``."""
    words, states, rest, whole = re.fullmatch(r"\((\d+)V\+(\d+)H([+-]\d+)?\)\*B\*T \+ ([\d.]+) MiB", formula).groups()  # type: ignore[union-attr]
    return (int(words) * vocab + int(states) * hidden + int(rest or 0)) * tokens + float(whole) * MIB


def of_a_token_and_word() -> float:
    """Bytes of logits for each token and word when the backward of our cross-entropy begins: weights cancel out."""

    def total(vocab: int, tokens: int) -> float:
        run = Scenario(
            algorithm=SFT,
            models={"policy": Architecture(name="toy", layers=1, hidden=64, heads=1, ffn=64, vocab=vocab)},
            components=ON_ONE_DEVICE,
            batch=Batch(micro_batch=1, sequence_tokens=tokens),
        )
        return float(run.result.value("update:policy/backward_loss.allocated"))

    return (total(2000, 20) - total(2000, 10) - total(1000, 20) + total(1000, 10)) / (1000 * 10)


@pytest.mark.parametrize(
    "row", FIGURES["rows"], ids=lambda r: f"{r['op']}-{r['implementation']}-{r['tokens']}-{r['vocab']}"
)
def test_a_row(row: Any):
    tokens, vocab, hidden = row["tokens"], row["vocab"], row["hidden"]
    if row["op"] == "CE on fp32 logits" and row["implementation"] == "huggingface":
        predicted, off = hugging_face_cross_entropy(tokens, vocab), 0.002
    elif row["op"] == "CE on fp32 logits":
        predicted, off = liger_cross_entropy(tokens, vocab), 0.15
    elif row["op"] == "LM-head + CE":
        predicted, off = head_and_cross_entropy(tokens, vocab, hidden), 0.002
    else:
        predicted, off = linear(row["formula"], tokens, vocab, hidden), 1.0
    assert abs(predicted / MIB - row["mib"]) < off


def test_xtuner_head_and_cross_entropy():
    """InternLM/xtuner@b934f462, loss benchmark: 38.53 GiB; two logits in 32 bits, the head and the hidden states."""
    tokens, vocab, hidden = 32768, 151936, 4096
    predicted = 2 * 4 * vocab * tokens + 2 * vocab * hidden + 2 * tokens * hidden
    assert predicted / 2**30 == pytest.approx(38.53, rel=1e-3)
