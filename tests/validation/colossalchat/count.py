"""Count live logits in the loops of ColossalChat's trainers on PyTorch's meta device, in the second of two iterations.

The loops keep logits in variables until they are assigned anew, which is when the next iteration's exist already.
``python tests/validation/colossalchat/count.py`` prints bytes per token and word: what is left in the variables of the
policy and of the reference, and beside that the most in the policy's forward, what is held while the reference runs,
the most in the reference's forward, and the most in backward.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from runpy import run_path
from typing import Any

COUNT = run_path(str(Path(__file__).parents[1] / "loss_operations" / "count.py"))
torch, functional = COUNT["torch"], COUNT["functional"]
ROWS, SEQUENCE, WORDS, HIDDEN = (COUNT[name] for name in ("ROWS", "SEQUENCE", "WORDS", "HIDDEN"))


def log_probs(logits: Any, ids: Any) -> Any:
    """A log-softmax of all logits but the last token's."""
    found = functional.log_softmax(logits[:, :-1, :], dim=-1)
    return found.gather(dim=-1, index=ids[:, 1:].unsqueeze(-1)).squeeze(-1)


def difference(chosen: Any, rejected: Any) -> Any:
    """Log-probabilities of chosen rows less those of rejected ones."""
    ids = COUNT["labels"](ROWS // 2)
    return log_probs(chosen, ids).sum() - log_probs(rejected, ids).sum()


class Loop:
    """Marks instants of a loop, and counts."""

    def __init__(self, rows: int = ROWS) -> None:
        make = torch.empty
        self.head = make(WORDS, HIDDEN, dtype=torch.bfloat16, device="meta", requires_grad=True)
        self.hidden = make(rows, SEQUENCE, HIDDEN, dtype=torch.bfloat16, device="meta", requires_grad=True)
        self.rows = rows
        self.live = COUNT["Live"]()
        self.peaks: dict[str, float] = {}
        self.now: dict[str, float] = {}

    def model(self) -> Any:
        """Transformers up to 4.45: logits in 32 bits, whatever they were."""
        logits = functional.linear(self.hidden, self.head)
        logits = logits.float()
        return logits

    def mark(self, name: str) -> None:
        """End a stretch of a loop."""
        size = self.rows * SEQUENCE * WORDS
        self.peaks[name], self.now[name] = self.live.peak / size, self.live.now() / size
        self.live.peak = 0


def sft(loop: Loop) -> Iterator[None]:
    """The model's own cross-entropy; its output is a variable."""
    while True:
        logits = loop.model()
        loss = COUNT["shifted_cross_entropy"](logits, COUNT["labels"](loop.rows))
        outputs = logits, loss
        del logits
        loop.mark("forward")
        outputs[1].backward()
        loop.mark("backward")
        yield


def simpo(loop: Loop) -> Iterator[None]:
    """Pairs without a reference."""
    while True:
        every = loop.model()
        chosen, rejected = every[: ROWS // 2], every[ROWS // 2 :]
        loss = difference(chosen, rejected)
        loop.mark("forward")
        loss.backward()
        loop.mark("backward")
        yield


def dpo(loop: Loop) -> Iterator[None]:
    """Pairs, and the reference after the policy."""
    while True:
        every = loop.model()
        chosen, rejected = every[: ROWS // 2], every[ROWS // 2 :]
        loss = difference(chosen, rejected)
        loop.mark("forward")
        with torch.no_grad():
            every_ref = loop.model()
            chosen_ref, rejected_ref = every_ref[: ROWS // 2], every_ref[ROWS // 2 :]
            difference(chosen_ref, rejected_ref)
        loop.mark("inferred")
        loss.backward()
        loop.mark("backward")
        yield


def orpo(loop: Loop) -> Iterator[None]:
    """Pairs with a cross-entropy of the chosen in the model's own forward."""
    while True:
        out = loop.model()
        nll = COUNT["shifted_cross_entropy"](out, COUNT["labels"](loop.rows))
        every = out.to(torch.float32)
        chosen, rejected = every[: ROWS // 2], every[ROWS // 2 :]
        loss = nll - difference(chosen, rejected)
        loop.mark("forward")
        loss.backward()
        loop.mark("backward")
        yield


def kto(loop: Loop) -> Iterator[None]:
    """One more forward for the divergence, of the policy and of the reference."""
    ids = COUNT["labels"](loop.rows)
    while True:
        with torch.no_grad():
            kl_logits = loop.model()
        logits = loop.model()
        found = log_probs(logits, ids).sum()
        log_probs(kl_logits, ids)
        loop.mark("forward")
        with torch.no_grad():
            ref_kl = loop.model()
            ref = loop.model()
        log_probs(ref, ids)
        log_probs(ref_kl, ids)
        loop.mark("inferred")
        found.backward()
        loop.mark("backward")
        yield


LOOPS: dict[str, Callable[[Loop], Iterator[None]]] = {
    "colossalchat-sft": sft,
    "colossalchat-simpo": simpo,
    "colossalchat-dpo": dpo,
    "colossalchat-orpo": orpo,
    "colossalchat-kto": kto,
}


def measure(name: str) -> tuple[dict[str, float], dict[str, float]]:
    """Return the most in each stretch of the second iteration, and what is alive at the end of each."""
    loop = Loop()
    with loop.live:
        steps = LOOPS[name](loop)
        next(steps)
        loop.live.peak = 0
        next(steps)
        return loop.peaks, loop.now


if __name__ == "__main__":
    for name in LOOPS:
        print(name, *({k: round(v, 2) for k, v in part.items()} for part in measure(name)))  # noqa: T201
