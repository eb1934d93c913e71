"""Live bytes of small training steps with parts of the model frozen: ``python measure.py`` writes figures.json anew.

Needs torch 2.13 and transformers 5.24, no GPU: live storages are added up after every operator, and parts are frozen as
their users do it, by ``requires_grad_(False)``. Each case runs in a process of its own.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).with_name("figures.json")
SHAPE = {"layers": 6, "hidden": 256, "heads": 4, "kv_heads": 2, "ffn": 704, "vocab": 2048}
DEFAULTS: dict[str, Any] = {
    "adapter": "frozen-layers",
    "layers": 0,
    "tied": False,
    "scalar": False,
    "precision": "bf16",
    "recompute": False,
    "steps": 1,
    "batch": 2,
    "sequence": 256,
}
SHORT = {"batch": 1, "sequence": 16}
PARTS: list[dict[str, Any]] = [
    {"adapter": "full"},
    {},
    {"layers": 2},
    {"layers": 5},
    {"layers": 6},
    {"adapter": "last-layers", "layers": 2},
    {"adapter": "head-only"},
    {"adapter": "head-only", "scalar": True},
    {"layers": 3, "scalar": True},
    {"layers": 2, "tied": True},
    {"adapter": "head-only", "tied": True},
]
CASES: list[dict[str, Any]] = [
    *PARTS,
    *({**part, **SHORT} for part in PARTS),
    *({**part, "recompute": True} for part in PARTS),
    *({**part, "precision": "fp32"} for part in PARTS[:8]),
    *({**part, "precision": "autocast-fp32"} for part in PARTS[:8]),
    *({**part, "precision": "autocast-fp32", "recompute": True} for part in PARTS[:8]),
    {"layers": 2, "steps": 2},
    {"layers": 2, "steps": 2, **SHORT},
    *({**part, "scalar": True, "recompute": True} for part in ({"layers": 2}, {"adapter": "last-layers", "layers": 2})),
    *(
        {**part, "scalar": True, "precision": "fp32"}
        for part in ({"layers": 2}, {"adapter": "last-layers", "layers": 2})
    ),
    {"layers": 2, "scalar": True, "precision": "autocast-fp32"},
    {"layers": 2, "scalar": True, "precision": "autocast-fp32", "recompute": True},
    {"adapter": "full", "scalar": True, "recompute": True},
    {"adapter": "full", "scalar": True, "precision": "fp32"},
    {"adapter": "full", "scalar": True, "precision": "autocast-fp32"},
    {"adapter": "full", "scalar": True, "precision": "autocast-fp32", "recompute": True},
]


def freeze(model: Any, part: str, layers: int, scalar: bool) -> None:
    """Leave training only to what a part says."""
    if part == "full":
        return
    head = model.score if scalar else model.lm_head
    every = model.model.layers
    if part == "frozen-layers":
        for module in (model.model.embed_tokens, *every[:layers]):
            module.requires_grad_(False)
        return
    model.requires_grad_(False)
    if part == "head-only":
        head.requires_grad_(True)
    else:
        for module in every[len(every) - layers :]:
            module.requires_grad_(True)


def measure(case: dict[str, Any]) -> dict[str, int]:
    """Return the most bytes live in forward, backward and the step of a second training step, and those between."""
    torch, transformers = import_module("torch"), import_module("transformers")
    tree_iter = import_module("torch.utils._pytree").tree_iter
    weak_reference = import_module("torch.multiprocessing.reductions").StorageWeakRef
    mode: Any = import_module("torch.utils._python_dispatch").TorchDispatchMode

    class Live(mode):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.storages: dict[int, Any] = {}
            self.peaks: dict[str, int] = {}
            self.where: dict[str, str] = {}
            self.phase = ""

        def add(self, value: Any) -> None:
            if isinstance(value, torch.Tensor):
                storage = value.untyped_storage()
                self.storages.setdefault(storage._cdata, weak_reference(storage))

        def total(self) -> int:
            found = 0
            for key, weak in list(self.storages.items()):
                storage = None if weak.expired() else torch.UntypedStorage._new_with_weak_ptr(weak.cdata)
                if storage is None:
                    del self.storages[key]
                else:
                    found += storage.nbytes()
            return found

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            for value in tree_iter((args, kwargs)):
                self.add(value)
            out = function(*args, **(kwargs or {}))
            for value in tree_iter(out):
                self.add(value)
            if self.phase:
                total = self.total()
                if total > self.peaks.get(self.phase, 0):
                    self.peaks[self.phase], self.where[self.phase] = total, str(function)
            return out

    s = {**DEFAULTS, **case}
    torch.manual_seed(0)
    torch.set_num_threads(1)
    autocast = s["precision"].startswith("autocast")
    config = transformers.LlamaConfig(
        hidden_size=SHAPE["hidden"],
        intermediate_size=SHAPE["ffn"],
        num_hidden_layers=SHAPE["layers"],
        num_attention_heads=SHAPE["heads"],
        num_key_value_heads=SHAPE["heads"] if "fp32" in s["precision"] else SHAPE["kv_heads"],
        vocab_size=SHAPE["vocab"],
        tie_word_embeddings=s["tied"],
        num_labels=1,
        pad_token_id=0,
        use_cache=False,
        attn_implementation="sdpa",
    )
    made = transformers.LlamaForSequenceClassification if s["scalar"] else transformers.LlamaForCausalLM
    live = Live()
    with live:
        model: Any = made(config).to(torch.bfloat16 if s["precision"] == "bf16" else torch.float32)
        if s["recompute"]:
            model.gradient_checkpointing_enable({"use_reentrant": False})
        model.train()
        freeze(model, s["adapter"], s["layers"], s["scalar"])
        optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], foreach=True)
        ids = torch.randint(1, SHAPE["vocab"], (s["batch"], s["sequence"]))
        for measured in (False, True):
            for step in range(s["steps"]):
                last = measured and step == s["steps"] - 1
                live.phase = "forward" if last else ""
                with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                    if s["scalar"]:
                        loss = model.score(model.model(input_ids=ids).last_hidden_state)
                    else:
                        loss = model(input_ids=ids, labels=ids).loss
                if s["scalar"]:
                    loss = loss.float().sum()
                live.phase = ""
                gc.collect()
                if last:
                    live.peaks["held"] = live.total()
                live.phase = "backward" if last else ""
                loss.backward()
                del loss
                live.phase = ""
                gc.collect()
            live.phase = "optimizer" if measured else ""
            optimizer.step()
            live.phase = ""
            optimizer.zero_grad(set_to_none=True)
            gc.collect()
    if len(sys.argv) > 2:
        sys.stderr.write(f"{live.where}\n")
    return live.peaks


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.stdout.write(json.dumps(measure(json.loads(sys.argv[1]))) + "\n")
    else:
        rows = []
        for case in CASES:
            done = subprocess.run(
                [sys.executable, __file__, json.dumps(case)], capture_output=True, text=True, check=True
            )
            rows.append({"case": case, "peaks": json.loads(done.stdout.splitlines()[-1])})
        FIGURES.write_text(json.dumps({"shape": SHAPE, "defaults": DEFAULTS, "rows": rows}, indent=1) + "\n", "utf-8")
