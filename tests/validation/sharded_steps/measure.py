"""Live bytes of small training steps as one rank of several: ``python measure.py`` writes figures.json anew.

Needs torch 2.13 and transformers 5.24, no GPU and no other rank: collectives go to torch's fake process group, and the
live storages are added up after every operator. Each case runs in a process of its own.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from contextlib import nullcontext
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).with_name("figures.json")
SHAPE = {"layers": 6, "hidden": 256, "heads": 4, "kv_heads": 2, "ffn": 704, "vocab": 2048, "tied": False}
DEFAULTS: dict[str, Any] = {
    "engine": "fsdp2",
    "trained": True,
    "world": 8,
    "replicas": 1,
    "weight_bytes": 4,
    "reduce_bytes": 4,
    "steps": 1,
    "no_sync": False,
    "recompute": True,
    "reshard": True,
    "view": False,
    "units": "layers",
    "reshard_root": None,
    "ahead": False,
    "strategy": "FULL_SHARD",
    "prefetch": "BACKWARD_PRE",
    "use_orig_params": False,
    "tensor": 1,
    "batch": 1,
    "sequence": 32,
}
PLAIN = {"weight_bytes": 2, "reduce_bytes": 0}
FSDP1 = {"engine": "fsdp1"}
CASES: list[dict[str, Any]] = [
    {},
    {"batch": 2, "sequence": 256},
    {"world": 1},
    {"batch": 2, "sequence": 256, "world": 1},
    {"reshard": False},
    {"steps": 2},
    {"steps": 3, "no_sync": True},
    {"steps": 2, "no_sync": True, "world": 2},
    {"batch": 2, "sequence": 256, "steps": 3, "no_sync": True},
    {"batch": 2, "sequence": 64, "steps": 2, "no_sync": True, "reshard": False},
    {**PLAIN, "batch": 2, "sequence": 128, "recompute": False, "steps": 2},
    {**PLAIN, "steps": 3, "no_sync": True},
    {"replicas": 2},
    {"replicas": 2, "weight_bytes": 2},
    {"replicas": 2, "steps": 2},
    {"batch": 2, "sequence": 128, "world": 16, "replicas": 2, "reduce_bytes": 0, "recompute": False},
    {"world": 2, "weight_bytes": 2, "recompute": False},
    {**PLAIN, "engine": "ddp"},
    {**PLAIN, "engine": "ddp", "view": True},
    {**PLAIN, "engine": "ddp", "steps": 2},
    {**PLAIN, "engine": "ddp", "steps": 2, "view": True},
    {**PLAIN, "engine": "ddp", "batch": 2, "sequence": 256, "recompute": False},
    {"reshard_root": True},
    {"reshard_root": True, "batch": 2, "sequence": 256},
    {"reshard_root": True, "units": "embedding"},
    {"reshard_root": True, "units": "embedding", "batch": 2, "sequence": 256},
    {"units": "embedding", "recompute": False, "batch": 2, "sequence": 128},
    {"reshard_root": True, "reduce_bytes": 0, "weight_bytes": 2},
    {"reshard_root": True, "units": "embedding", "steps": 3, "no_sync": True},
    {"units": "head"},
    {"units": "embedding, head"},
    {"units": "embedding, head", "batch": 2, "sequence": 256},
    {"units": "head", "batch": 2, "sequence": 256},
    {"units": "embedding, head", "reshard_root": True},
    {"units": "head", "reshard_root": True},
    {"units": "embedding, head", "reshard": False},
    {"ahead": True},
    {"ahead": True, "batch": 2, "sequence": 256},
    {"units": "embedding, head", "steps": 2},
    {"units": "embedding, head", "steps": 3, "no_sync": True},
    {"units": "embedding, head", "recompute": False, "batch": 2, "sequence": 128},
    {"ahead": True, "recompute": False, "batch": 2, "sequence": 128},
    {"units": "embedding, head", "weight_bytes": 2, "reduce_bytes": 0},
    {"units": "embedding, head", "replicas": 2},
    {"ahead": True, "reshard": False},
    {"trained": False, "units": "model", "reshard_root": True},
    {"trained": False, "units": "model"},
    {"trained": False, "units": "model", "reshard_root": True, "batch": 2, "sequence": 256},
    {"trained": False},
    {"trained": False, "reshard_root": True},
    {"trained": False, "units": "embedding, head"},
    {"trained": False, "ahead": True, "batch": 2, "sequence": 256},
    {"trained": False, "units": "model", "reshard_root": True, "weight_bytes": 2, "reduce_bytes": 0},
    {**FSDP1},
    {**FSDP1, "batch": 2, "sequence": 256},
    {**FSDP1, "batch": 2, "sequence": 256, "recompute": False, "world": 2},
    {**FSDP1, "use_orig_params": True},
    {**FSDP1, "world": 7},
    {**FSDP1, "world": 7, "use_orig_params": True},
    {**FSDP1, "world": 1},
    {**FSDP1, "world": 1, "batch": 2, "sequence": 256},
    {**FSDP1, "world": 1, "weight_bytes": 2, "reduce_bytes": 0},
    {**FSDP1, "reduce_bytes": 0},
    {**FSDP1, "reduce_bytes": 0, "recompute": False, "batch": 2, "sequence": 128},
    {**FSDP1, **PLAIN, "steps": 3, "no_sync": True, "world": 2},
    {**FSDP1, "world": 1, "steps": 2},
    {**FSDP1, "weight_bytes": 2},
    {**FSDP1, "weight_bytes": 2, "reduce_bytes": 0},
    {**FSDP1, "strategy": "SHARD_GRAD_OP"},
    {**FSDP1, "strategy": "SHARD_GRAD_OP", "batch": 2, "sequence": 256},
    {**FSDP1, "strategy": "SHARD_GRAD_OP", "steps": 2, "no_sync": True},
    {**FSDP1, "prefetch": "BACKWARD_POST"},
    {**FSDP1, "prefetch": "BACKWARD_POST", "batch": 2, "sequence": 256},
    {**FSDP1, "prefetch": None},
    {**FSDP1, "prefetch": None, "batch": 2, "sequence": 256},
    {**FSDP1, "steps": 2},
    {**FSDP1, "steps": 2, "use_orig_params": True, "batch": 2, "sequence": 128},
    {**FSDP1, "steps": 2, "no_sync": True},
    {**FSDP1, "steps": 3, "no_sync": True, "batch": 2, "sequence": 256, "use_orig_params": True},
    {**FSDP1, "steps": 2, "no_sync": True, "reduce_bytes": 0},
    {**FSDP1, "strategy": "HYBRID_SHARD", "replicas": 2},
    {**FSDP1, "strategy": "HYBRID_SHARD", "replicas": 2, "batch": 2, "sequence": 128, "steps": 2},
    {**FSDP1, "strategy": "_HYBRID_SHARD_ZERO2", "replicas": 4},
    {"tensor": 2, "world": 4},
    {"tensor": 2, "world": 2},
    {"tensor": 2, "batch": 2, "sequence": 256},
    {"tensor": 2, "batch": 2, "sequence": 256, "recompute": False},
    {"tensor": 2, "steps": 2},
    {"tensor": 2, "steps": 2, "no_sync": True},
    {"tensor": 2, "reshard": False},
    {"tensor": 2, "units": "embedding, head"},
    {"tensor": 2, "units": "head", "batch": 2, "sequence": 128},
    {"tensor": 2, **PLAIN, "world": 4},
    {"tensor": 2, **PLAIN, "world": 4, "batch": 4, "sequence": 512, "recompute": False},
    {"tensor": 2, "trained": False},
    {"tensor": 2, "trained": False, "batch": 2, "sequence": 256},
]


def wrapped(model: Any, s: dict[str, Any]) -> Any:
    """Return the model as the case's engine wraps it: every layer, and the model."""
    torch, fsdp, wrap = (
        import_module(name) for name in ("torch", "torch.distributed.fsdp", "torch.distributed.fsdp.wrap")
    )
    meshes = import_module("torch.distributed.device_mesh")
    if s["engine"] == "ddp":
        parallel = import_module("torch.nn.parallel")
        return parallel.DistributedDataParallel(model, gradient_as_bucket_view=s["view"])
    reduce = torch.float32 if s["reduce_bytes"] == 4 else None
    shape: tuple[int, ...] = (s["world"],)
    names: tuple[str, ...] | None = None
    if s["replicas"] > 1:
        shape, names = (s["replicas"], s["world"] // s["replicas"]), ("replicas", "shards")
    mesh = meshes.init_device_mesh("cpu", shape, mesh_dim_names=names)
    if s["engine"] == "fsdp1":
        return fsdp.FullyShardedDataParallel(
            model,
            device_mesh=mesh,
            sharding_strategy=fsdp.ShardingStrategy[s["strategy"]],
            auto_wrap_policy=wrap.ModuleWrapPolicy({type(model.model.layers[0])}),
            mixed_precision=fsdp.MixedPrecision(
                param_dtype=torch.bfloat16, reduce_dtype=reduce, buffer_dtype=torch.float32
            ),
            backward_prefetch=s["prefetch"] and fsdp.BackwardPrefetch[s["prefetch"]],
            use_orig_params=s["use_orig_params"],
            device_id=torch.device("cpu"),
        )
    if s["tensor"] > 1:
        mesh = meshes.init_device_mesh(
            "cpu", (s["world"] // s["tensor"], s["tensor"]), mesh_dim_names=("data", "tensor")
        )
        divide(model, mesh["tensor"])
        mesh = mesh["data"]
    policy = fsdp.MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=reduce)
    layers = [] if s["units"] == "model" else list(model.model.layers)
    units = [*layers, *([model.model.embed_tokens] if "embedding" in s["units"] else [])]
    for unit in units:
        fsdp.fully_shard(unit, mesh=mesh, mp_policy=policy, reshard_after_forward=s["reshard"])
    if "head" in s["units"]:
        fsdp.fully_shard([model.model.norm, model.lm_head], mesh=mesh, mp_policy=policy, reshard_after_forward=False)
    fsdp.fully_shard(model, mesh=mesh, mp_policy=policy, reshard_after_forward=s["reshard_root"])
    if s["ahead"]:
        for one, following in pairwise(layers):
            one.set_modules_to_forward_prefetch([following])
            following.set_modules_to_backward_prefetch([one])
    return model


def divide(model: Any, mesh: Any) -> None:
    """Let the ranks of a mesh share the matrices: heads, inner width and words; every rank has all logits."""
    parallel = import_module("torch.distributed.tensor.parallel")
    replicate = import_module("torch.distributed.tensor").Replicate()
    columns, rows = parallel.ColwiseParallel, parallel.RowwiseParallel
    parallel.parallelize_module(
        model,
        mesh,
        {
            "model.embed_tokens": rows(input_layouts=replicate),
            **dict.fromkeys((f"model.layers.*.self_attn.{n}_proj" for n in "qkv"), columns()),
            "model.layers.*.self_attn.o_proj": rows(),
            **dict.fromkeys((f"model.layers.*.mlp.{n}_proj" for n in ("gate", "up")), columns()),
            "model.layers.*.mlp.down_proj": rows(),
            "lm_head": columns(output_layouts=replicate),
        },
    )


def measure(case: dict[str, Any]) -> dict[str, int]:
    """Return the most bytes live in forwards, backwards and the step of a second training step.

    Of a model that is not trained, in two forwards without gradients.
    """
    torch, dist = (import_module(name) for name in ("torch", "torch.distributed"))
    transformers = import_module("transformers")
    fake = import_module("torch.testing._internal.distributed.fake_pg")
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
            if isinstance(value, torch.Tensor):
                value = getattr(value, "_local_tensor", value)
                storage = getattr(value, "elem", value).untyped_storage()  # what an asynchronous collective wraps
                if storage.device.type == "meta":
                    return  # shapes that DTensor works out
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
            if s["tensor"] > 1 and any(kind.__name__ == "DTensor" for kind in types):
                return NotImplemented  # its local tensors come back
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
    if s["engine"] == "ddp":  # holds the same with one rank; its reducer needs results, which the fake group has not
        dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
    else:
        dist.init_process_group("fake", rank=0, world_size=s["world"], store=fake.FakeStore())
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
    live = Live()
    with live:
        model: Any = transformers.LlamaForCausalLM(config).to(
            torch.float32 if s["weight_bytes"] == 4 else torch.bfloat16
        )
        if s["recompute"]:
            model.gradient_checkpointing_enable({"use_reentrant": False})
        model.train()
        model = wrapped(model, s)
        optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
        ids = torch.randint(0, SHAPE["vocab"], (s["batch"], s["sequence"]))
        if not s["trained"]:
            with torch.no_grad():
                for _ in range(2):
                    live.phase = "inference"
                    model.eval()(input_ids=ids)
            return live.peaks
        for measured in (False, True):
            for step in range(s["steps"]):
                last = step == s["steps"] - 1 or not s["no_sync"]
                if s["engine"] == "fsdp2":
                    model.set_requires_gradient_sync(last)
                with model.no_sync() if s["engine"] == "fsdp1" and not last else nullcontext():
                    live.phase = "forward" if measured else ""
                    loss = model(input_ids=ids, labels=ids).loss
                    live.phase = "backward" if measured else ""
                    loss.backward()
                    del loss
                live.phase = ""
                gc.collect()
            live.phase = "optimizer" if measured else ""
            optimizer.step()
            live.phase = ""
            optimizer.zero_grad(set_to_none=True)
            gc.collect()
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
