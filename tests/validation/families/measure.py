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
    """Return the most bytes live in forward, in backward and in the optimizer's step."""
    torch, transformers = import_module("torch"), import_module("transformers")
    leaves = import_module("torch.utils._pytree").tree_leaves
    fake = import_module("torch._subclasses.fake_tensor").FakeTensorMode
    mode: Any = import_module("torch.utils._python_dispatch").TorchDispatchMode

    class Live(mode):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.sizes: dict[int, int] = {}
            self.total, self.phase = 0, "load"
            self.peaks: dict[str, int] = {}

        def gone(self, key: int) -> None:
            self.total -= self.sizes.pop(key)

        def add(self, value: Any) -> None:
            if isinstance(value, torch.Tensor):
                storage = value.untyped_storage()
                if storage._cdata not in self.sizes:
                    self.sizes[storage._cdata] = storage.nbytes()
                    self.total += storage.nbytes()
                    weakref.finalize(storage, self.gone, storage._cdata)

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = function(*args, **(kwargs or {}))
            for value in leaves(out):
                self.add(value)
            if self.total > self.peaks.get(self.phase, 0):
                self.peaks[self.phase] = self.total
            return out

    function: Any = torch.autograd.Function

    class Kernel(function):  # type: ignore[misc]
        """Allocates and keeps what the fused kernels of a GPU do; those of a CPU repeat keys."""

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
    masking: Any = import_module("transformers.masking_utils")
    masking.find_packed_sequence_indices = lambda position_ids: None
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
            live.add(each)
        optimizer = torch.optim.AdamW(model.parameters(), fused=True)
        ids = torch.zeros(case["rows"], case["tokens"], dtype=torch.int64)
        for _ in range(2):
            live.peaks = {}
            gc.collect()
            live.phase = "forward"
            loss = model(input_ids=ids, labels=ids, use_cache=False).loss
            gc.collect()
            live.phase = "backward"
            loss.backward()
            del loss
            gc.collect()
            live.phase = "optimizer"
            optimizer.step()
            live.phase = ""
            optimizer.zero_grad(set_to_none=True)
    return {name: size for name, size in live.peaks.items() if name}


DEPTHS = {"gpt2": "n_layer", "gptj": "n_layer"}
"""What a family calls its layers, if not ``num_hidden_layers``."""

SDPA_AND_EAGER = (
    "Llama-3.2-1B",
    "SmolLM3-3B",
    "Qwen2-0.5B",
    "Qwen1.5-MoE-A2.7B",
    "Qwen3-0.6B",
    "Qwen3-30B-A3B",
    "Mistral-7B-v0.1",
    "Mixtral-8x7B",
    "Gemma-2B",
    "Gemma-3-1B",
    "Phi-1.5",
    "Phi-2",
    "Phi-3-mini",
    "Phi-3.5-MoE",
    "Phi-4-mini",
    "DeepSeek-V2-Lite",
    "DeepSeek-V3",
    "Kimi-K2",
    "GLM-4-9B-0414",
    "GLM-4.5-Air",
    "Pythia-410M",
    "GPT-2",
    "OPT-1.3B",
    "OLMo-1B",
    "OLMo-2-7B",
    "OLMoE-1B-7B",
    "Command-R",
    "Yi-34B",
    "GPT-J-6B",
    "Falcon-7B",
    "Llama-4-Scout",
)
"""One model a family, or more where it changed; of six layers and a small vocabulary each."""

EAGER = ("Gemma-2-2B", "gpt-oss-20b")
"""Families that scaled_dot_product_attention is not offered for."""

LONG = (
    ("Mistral-7B-v0.1", "sdpa", 4, 1, 8192),
    ("Phi-3-mini", "sdpa", 4, 2, 3072),
    ("Gemma-3-4B", "sdpa", 6, 2, 2048),
    ("Gemma-2-2B", "eager", 4, 1, 4096),
)
"""Rows beyond a sliding window: model, attention, layers, rows, tokens."""


def cases() -> list[dict[str, Any]]:
    """Return what is measured."""
    known = json.loads(CONFIGS.read_text(encoding="utf-8"))
    short = [(name, kernel, LAYERS, 2, 1024) for name in SDPA_AND_EAGER for kernel in ("sdpa", "eager")]
    short += [(name, "eager", LAYERS, 2, 1024) for name in EAGER]
    return [
        {
            "model": name,
            "attention": kernel,
            "rows": rows,
            "tokens": tokens,
            "config": {
                DEPTHS.get(known[name]["model_type"], "num_hidden_layers"): layers,
                "vocab_size": VOCABULARY,
            },
        }
        for name, kernel, layers, rows, tokens in (*short, *LONG)
    ]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.stdout.write(json.dumps(measure(json.loads(sys.argv[1]))) + "\n")
    else:
        rows = []
        for case in cases():
            done = subprocess.run(
                [sys.executable, __file__, json.dumps(case)], capture_output=True, text=True, check=True
            )
            rows.append({"case": case, "peaks": json.loads(done.stdout.splitlines()[-1])})
        versions = {"torch": "2.13.0", "transformers": "5.24.0"}
        lines = ",\n".join(json.dumps(row) for row in rows)
        FIGURES.write_text(f'{{"versions": {json.dumps(versions)},\n"rows": [\n{lines}\n]}}\n', "utf-8")
