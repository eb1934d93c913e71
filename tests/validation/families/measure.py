"""Live bytes of one training step of one model a family: ``python measure.py`` writes figures.json anew.

Needs torch 2.13 and transformers 5.24, no GPU: operators run on fake tensors, which have shapes and no numbers, and the
live storages are added up after each of them.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import weakref
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FIGURES = HERE / "figures.json"
CONFIGS = HERE.parent / "transformers_counts" / "configs.json"
VOCABULARY = 4096
LAYERS = 6


def measure(case: dict[str, Any]) -> dict[str, int]:
    """Return the most bytes live in forward, backward and the optimizer's step, and those kept between the first two."""
    torch, transformers = import_module("torch"), import_module("transformers")
    leaves = import_module("torch.utils._pytree").tree_leaves
    fake = import_module("torch._subclasses.fake_tensor").FakeTensorMode
    mode: Any = import_module("torch.utils._python_dispatch").TorchDispatchMode

    class Live(mode):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.sizes: dict[int, int] = {}
            self.names: dict[int, Any] = {}
            self.total, self.phase = 0, "load"
            self.peaks: dict[str, int] = {}
            self.snap: dict[str, Any] = {}

        def gone(self, key: int) -> None:
            self.total -= self.sizes.pop(key)
            self.names.pop(key, None)

        def add(self, value: Any, name: str = "") -> None:
            if isinstance(value, torch.Tensor):
                storage = value.untyped_storage()
                if storage._cdata not in self.sizes:
                    self.sizes[storage._cdata] = storage.nbytes()
                    self.names[storage._cdata] = (name, tuple(value.shape), str(value.dtype))
                    self.total += storage.nbytes()
                    weakref.finalize(storage, self.gone, storage._cdata)

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = function(*args, **(kwargs or {}))
            for value in leaves(out):
                self.add(value, str(function))
            if self.total > self.peaks.get(self.phase, 0):
                self.peaks[self.phase] = self.total
                if DEBUG:
                    self.snap[self.phase] = [(self.sizes[k], *self.names[k]) for k in self.sizes]
            return out

    class Kernel(torch.autograd.Function):  # type: ignore[misc]
        """Allocates and keeps what the fused kernels of a GPU do; those of a CPU repeat keys and lay results out else."""

        @staticmethod
        def forward(query: Any, key: Any, value: Any, bias: Any) -> Any:
            rows, heads, tokens, _ = query.shape
            out = query.new_empty(rows, tokens, heads, value.shape[-1]).transpose(1, 2)
            return out, query.new_empty(rows, heads, tokens, dtype=torch.float32)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.mark_non_differentiable(output[1])
            ctx.save_for_backward(*(each for each in (*inputs, *output) if each is not None))

        @staticmethod
        def backward(ctx: Any, grad: Any, _: Any) -> Any:
            query, key, value = ctx.saved_tensors[:3]
            return *(torch.empty_like(each) for each in (query, key, value)), None

    def attention(
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: Any = None,
        enable_gqa: bool = False,
    ) -> Any:
        bias = attn_mask
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            zero, least = query.new_zeros(()), query.new_full((), float("-inf"))
            bias = torch.where(attn_mask, zero, least)
        return Kernel.apply(query, key, value, bias)[0]

    torch.nn.functional.scaled_dot_product_attention = attention
    # fake tensors hide that positions go up by one, which is how real ones tell that nothing is packed
    import_module("transformers.masking_utils").find_packed_sequence_indices = lambda position_ids: None
    known = json.loads(CONFIGS.read_text(encoding="utf-8"))[case["model"]]
    fields = {name: value for name, value in known.items() if name not in ("model_type", "repository")}
    fields.update({"pad_token_id": None, **case.get("config", {})})
    config = transformers.AutoConfig.for_model(known["model_type"], **fields)
    live = Live()
    with fake(allow_non_fake_inputs=True), live:
        torch.set_default_dtype(torch.bfloat16)
        model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation=case["attention"])
        torch.set_default_dtype(torch.float32)
        model.train()
        for module in model.modules():
            for name in ("p", "dropout"):  # nothing is dropped, whatever a configuration says
                if isinstance(getattr(module, name, None), float):
                    setattr(module, name, 0.0)
        model.config.use_cache = False
        if case.get("recompute"):
            model.gradient_checkpointing_enable({"use_reentrant": False})
        for each in (*model.parameters(), *model.buffers()):
            live.add(each, "model")
        optimizer = torch.optim.AdamW(model.parameters(), fused=True)
        ids = torch.zeros(case["rows"], case["tokens"], dtype=torch.int64)
        for _ in range(2):
            live.peaks = {}
            gc.collect()
            live.phase = "forward"
            loss = model(input_ids=ids, labels=ids, use_cache=False).loss
            gc.collect()
            live.peaks["kept"] = live.total
            if DEBUG:
                live.snap["kept"] = [(live.sizes[k], *live.names[k]) for k in live.sizes]
            live.phase = "backward"
            loss.backward()
            del loss
            gc.collect()
            live.phase = "optimizer"
            optimizer.step()
            live.phase = ""
            optimizer.zero_grad(set_to_none=True)
    if DEBUG:
        measure.snap = live.snap  # type: ignore[attr-defined]
        measure.params = sum(p.numel() for p in model.parameters())
    return {name: size for name, size in live.peaks.items() if name}

DEBUG = False
