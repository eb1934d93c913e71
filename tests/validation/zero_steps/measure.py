"""Live bytes of small steps under DeepSpeed, the larger of two ranks: ``python measure.py`` makes figures.json.

Needs deepspeed 0.19.8, torch 2.13 and transformers 5.24, and no GPU: two processes talk through gloo, and the live
storages are added up after every operator.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).with_name("figures.json")
SHAPE = {"layers": 6, "hidden": 256, "heads": 4, "kv_heads": 2, "ffn": 704, "vocab": 2048, "tied": False}
WORLD = 2
DEFAULTS: dict[str, Any] = {
    "stage": 2,
    "steps": 1,
    "accumulation_bytes": 2,
    "recompute": True,
    "batch": 1,
    "sequence": 32,
    "reduce_bucket_size": 800_000,
    "overlap_comm": False,
    "max_live_parameters": 1_500_000,
    "prefetch_bucket_size": 100_000,
    "sub_group_size": 1_000_000_000,
    "param_persistence_threshold": 1_000,
}
LONG = {"batch": 2, "sequence": 256}
CASES: list[dict[str, Any]] = [
    {"stage": 2},
    {"stage": 3},
    {"stage": 1},
    {"stage": 2, **LONG},
    {"stage": 3, **LONG},
    {"stage": 1, "accumulation_bytes": 4},
    {"stage": 2, "accumulation_bytes": 4},
    {"stage": 3, "accumulation_bytes": 4},
    {"stage": 2, "steps": 2},
    {"stage": 3, "max_live_parameters": 3_000_000},
    {"stage": 1, "steps": 2},
    {"stage": 3, "sub_group_size": 1_000_000},
    {"stage": 2, "overlap_comm": True},
    {"stage": 2, **LONG, "recompute": False},
]


def measure(case: dict[str, Any]) -> dict[str, int]:
    """Return the most bytes live in forwards, backwards and the step of a fourth training step."""
    torch, deepspeed, transformers = (import_module(name) for name in ("torch", "deepspeed", "transformers"))
    tree_iter = import_module("torch.utils._pytree").tree_iter
    weak_reference = import_module("torch.multiprocessing.reductions").StorageWeakRef
    mode: Any = import_module("torch.utils._python_dispatch").TorchDispatchMode

    class Live(mode):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.storages: dict[int, Any] = {}
            self.peaks: dict[str, int] = {}
            self.phase = ""

        def add(self, value: Any) -> None:
            if isinstance(value, torch.Tensor) and not value.is_meta:
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
                self.peaks[self.phase] = max(self.peaks.get(self.phase, 0), self.total())
            return out

    s = {**DEFAULTS, **case}
    torch.set_num_threads(1)
    deepspeed.init_distributed("gloo", verbose=False)
    config = transformers.LlamaConfig(
        hidden_size=SHAPE["hidden"],
        intermediate_size=SHAPE["ffn"],
        num_hidden_layers=SHAPE["layers"],
        num_attention_heads=SHAPE["heads"],
        num_key_value_heads=SHAPE["kv_heads"],
        vocab_size=SHAPE["vocab"],
        tie_word_embeddings=SHAPE["tied"],
        use_cache=False,
        attn_implementation="sdpa",
    )
    zero = {name: s[name] for name in ("stage", "reduce_bucket_size", "overlap_comm", "sub_group_size")}
    zero |= {f"stage3_{n}": s[n] for n in ("max_live_parameters", "prefetch_bucket_size")}
    zero |= {"stage3_max_reuse_distance": s["max_live_parameters"]}
    zero |= {"stage3_param_persistence_threshold": s["param_persistence_threshold"]}
    settings = {
        "train_micro_batch_size_per_gpu": s["batch"],
        "gradient_accumulation_steps": s["steps"],
        "bf16": {"enabled": True},
        "data_types": {"grad_accum_dtype": "fp32" if s["accumulation_bytes"] == 4 else "bf16"},
        "zero_optimization": zero,
        "zero_allow_untested_optimizer": True,
    }
    live = Live()
    with live:
        model: Any = transformers.LlamaForCausalLM(config).to(torch.bfloat16)
        if s["recompute"]:
            model.gradient_checkpointing_enable({"use_reentrant": False})
        optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
        engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=settings)
        del model, optimizer
        ids = torch.randint(0, SHAPE["vocab"], (s["batch"], s["sequence"]))
        for measured in (False, False, False, True):
            for _ in range(s["steps"]):
                gc.collect()
                live.phase = "forward" if measured else ""
                loss = engine(input_ids=ids, labels=ids).loss
                live.phase = "backward" if measured else ""
                engine.backward(loss)
                del loss
                live.phase = "optimizer" if measured else ""
                engine.step()
                live.phase = ""
    return live.peaks


if __name__ == "__main__":
    if len(sys.argv) > 1:
        found = json.dumps(measure(json.loads(sys.argv[1])))
        Path(os.environ["FOUND"]).write_text(found, encoding="utf-8")
    else:
        rows = []
        for port, case in enumerate(CASES, 29800):
            files = [FIGURES.with_name(f"rank{rank}.json") for rank in range(WORLD)]
            common = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(WORLD), "LOCAL_RANK": "0"}
            ranks = [
                subprocess.Popen(
                    [sys.executable, __file__, json.dumps(case)],
                    env={**os.environ, **common, "RANK": str(rank), "FOUND": str(file)},
                    stdout=subprocess.DEVNULL,
                )
                for rank, file in enumerate(files)
            ]
            if any(rank.wait() for rank in ranks):
                sys.exit(f"failed: {case}")
            peaks = [json.loads(file.read_text(encoding="utf-8")) for file in files]
            for file in files:
                file.unlink()
            rows.append({"case": case, "peaks": {phase: max(peak[phase] for peak in peaks) for phase in peaks[0]}})
            shown = {"shape": SHAPE, "world": WORLD, "defaults": DEFAULTS, "rows": rows}
            FIGURES.write_text(json.dumps(shown, indent=1) + "\n", encoding="utf-8")
