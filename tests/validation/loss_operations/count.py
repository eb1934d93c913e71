"""Count live storages while the operations of a loss run on PyTorch's meta device: nothing is computed or allocated.

The operations are written here as the frameworks write them, without their settings and logs. What a kernel allocates
inside itself does not show. ``python tests/validation/loss_operations/count.py`` prints bytes per token and word.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

ROWS, SEQUENCE, WORDS, HIDDEN = 4, 512, 8192, 16
COMPLETION = 256

torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")
dispatch: Any = import_module("torch.utils._python_dispatch")
tree: Any = import_module("torch.utils._pytree")
StorageWeakRef: Any = import_module("torch.multiprocessing.reductions").StorageWeakRef


class Live(dispatch.TorchDispatchMode):  # type: ignore[misc]
    """Adds up storages that are alive after each operation."""

    def __init__(self) -> None:
        super().__init__()
        self.storages: dict[int, tuple[Any, int]] = {}
        self.peak = 0

    def now(self) -> int:
        """Return the bytes that are alive."""
        self.storages = {key: item for key, item in self.storages.items() if not item[0].expired()}
        return sum(size for _, size in self.storages.values())

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation, and count what it returns."""
        if operation is torch.ops.aten.scatter_add.default:  # backward of gather is in place, unless a mode looks on
            operation = torch.ops.aten.scatter_add_.default
        result = operation(*args, **(kwargs or {}))
        for leaf in tree.tree_flatten(result)[0]:
            if isinstance(leaf, torch.Tensor):
                storage = leaf.untyped_storage()
                known = self.storages.get(storage._cdata)
                if known is None or known[0].expired():
                    self.storages[storage._cdata] = (StorageWeakRef(storage), storage.nbytes())
        self.peak = max(self.peak, self.now())
        return result


def measure(loss: Callable[[Any], Any], wide: bool) -> tuple[float, float, float]:
    """Return the most in forward, what is held, and the most in backward, in bytes per token and word."""
    head = torch.empty(WORDS, HIDDEN, dtype=torch.bfloat16, device="meta", requires_grad=True)
    hidden = torch.empty(ROWS, SEQUENCE, HIDDEN, dtype=torch.bfloat16, device="meta", requires_grad=True)

    def model() -> Any:
        logits = functional.linear(hidden, head)
        return logits.float() if wide else logits

    with Live() as live:
        value, kept = loss(model), None
        if isinstance(value, tuple):
            value, kept = value
        forward, held, live.peak = live.peak, live.now(), 0
        del kept
        value.backward()
    return tuple(size / (ROWS * SEQUENCE * WORDS) for size in (forward, held, live.peak))


def labels(rows: int = ROWS) -> Any:
    """Return token ids."""
    return torch.empty(rows, SEQUENCE, dtype=torch.int64, device="meta")


def shifted_cross_entropy(logits: Any, ids: Any) -> Any:
    """Cross-entropy of a shifted copy."""
    logits = logits[..., :-1, :].contiguous()
    return functional.cross_entropy(logits.view(-1, WORDS), ids[..., 1:].contiguous().view(-1))


def selective_log_softmax(logits: Any, ids: Any) -> Any:
    """TRL's, row by row; another way for 16 bits."""
    if logits.dtype == torch.float32:
        chosen = torch.gather(logits, -1, ids.unsqueeze(-1)).squeeze(-1)
        return chosen - torch.stack([torch.logsumexp(row, -1) for row in logits])
    rows = zip(logits, ids, strict=True)
    return torch.stack([functional.log_softmax(r, -1).gather(-1, i.unsqueeze(-1)).squeeze(-1) for r, i in rows])


def transformers_4_44(model: Any) -> Any:
    """The model's own forward, whose variable is taken over."""
    logits = model()
    logits = logits.float()
    return shifted_cross_entropy(logits, labels())


def transformers_4_46(model: Any) -> Any:
    """A function, whose caller holds the logits."""

    def loss_function(given: Any, ids: Any) -> Any:
        given = given.float()
        shifted = given[..., :-1, :].contiguous()
        return functional.cross_entropy(shifted.view(-1, WORDS), ids[..., 1:].contiguous().view(-1))

    logits = model()
    return loss_function(logits, labels())


def trl_simpo(model: Any) -> Any:
    """Log-probabilities of both halves."""
    logits = model()
    return selective_log_softmax(logits[:, :-1, :], labels()[:, 1:].clone()).sum()


def trl_cpo(model: Any) -> Any:
    """A cross-entropy of the chosen half before them."""
    logits = model()
    chosen = shifted_cross_entropy(logits[: ROWS // 2], labels(ROWS // 2))
    return selective_log_softmax(logits[:, :-1, :], labels()[:, 1:].clone()).sum() + chosen


def trl_cpo_gather(model: Any) -> Any:
    """The same with a log-softmax of all logits."""
    logits = model()
    chosen = shifted_cross_entropy(logits[: ROWS // 2], labels(ROWS // 2))
    ids = labels()[:, 1:].clone()
    return torch.gather(logits[:, :-1, :].log_softmax(-1), 2, ids.unsqueeze(2)).sum() + chosen


def trl_kto(model: Any) -> Any:
    """Log-probabilities, and copies of good and bad rows that the caller holds until the loss is there."""
    logits = model()
    found = selective_log_softmax(logits[:, :-1, :], labels()[:, 1:].clone()).sum()
    return found, (logits[[0, 1], ...].detach(), logits[[2, 3], ...].detach())


def distillation(beta: float) -> Callable[[Any], Any]:
    """Return TRL's generalised Jensen-Shannon divergence of completions."""

    def divergence(student_logits: Any, teacher_logits: Any) -> Any:
        student_logits = student_logits / 1.0
        teacher_logits = teacher_logits / 1.0
        student = functional.log_softmax(student_logits, -1)
        teacher = functional.log_softmax(teacher_logits, -1)
        if beta == 0:
            found = functional.kl_div(student, teacher, reduction="none", log_target=True)
            return found.clone().sum()
        if beta == 1:
            found = functional.kl_div(teacher, student, reduction="none", log_target=True)
            return found.clone().sum()
        share = torch.empty((), dtype=student.dtype, device="meta")
        mixed = torch.logsumexp(torch.stack([student + torch.log(1 - share), teacher + torch.log(share)]), 0)
        left = functional.kl_div(mixed, teacher, reduction="none", log_target=True)
        right = functional.kl_div(mixed, student, reduction="none", log_target=True)
        found = share * left + (1 - share) * right
        return found.clone().sum()

    def loss(model: Any) -> Any:
        student = model()
        with torch.no_grad():
            teacher = model()
        cut = slice(SEQUENCE - COMPLETION - 1, -1)
        return divergence(student[:, cut], teacher[:, cut])

    return loss


LOSSES: dict[str, Callable[[Any], Any]] = {
    "transformers-4.44": transformers_4_44,
    "transformers-4.46": transformers_4_46,
    "trl-simpo": trl_simpo,
    "trl-cpo": trl_cpo,
    "trl-cpo-gather": trl_cpo_gather,
    "trl-kto": trl_kto,
    "trl-gkd": distillation(0.5),
    "trl-gkd-forward": distillation(0.0),
    "trl-gkd-reverse": distillation(1.0),
}


if __name__ == "__main__":
    for name, loss in LOSSES.items():
        for wide in (False, True):
            figures = ", ".join(f"{figure:.3f}" for figure in measure(loss, wide))
            print(f"{name} {'32' if wide else '16'} bits: {figures}")  # noqa: T201
