"""torchtitan: causal training under FSDP2, with embedding and head in units of their own."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl

CONFIG = "torchtitan 000204a4: config/job_config.py"
ENGINES = ("fsdp2", "fsdp2-cpu-offload")

CHOICES = (
    Choice(
        components={"engine": "fsdp2", "precision": "bf16-gathered"},
        givens={"reduce_bytes": 4, "wraps_embedding": 1, "wraps_head": 1},
        source="torchtitan 018740b7: models/llama3/infra/parallelize.py, apply_fsdp; "
        f"{CONFIG}, mixed_precision_param bfloat16, mixed_precision_reduce float32",
    ),
    Choice(components={"optimizer": "adamw-fused"}, source=f"{CONFIG}, Optimizer.implementation: fused"),
    Choice(
        components={"layers": "transformers", "attention": "sdpa", "adapter": "full"},
        source="torchtitan: models/llama3/model, whose arithmetic is that of transformers' Llama",
    ),
    Choice(
        components={"packing": "equal"},
        batch={"micro_batch": 8, "sequence_tokens": 2048},
        source=f"{CONFIG}, Training.local_batch_size: 8, seq_len: 2048",
    ),
    Choice(
        components={"loss": "cross-entropy"},
        source="torchtitan: components/loss.py, cross_entropy of logits in 32 bits",
    ),
)

TORCHTITAN = Preset(
    name="torchtitan",
    framework="torchtitan",
    version="000204a4",
    algorithms=("SFT",),
    only={"engine": ENGINES, "adapter": "full"},
    choices=CHOICES,
    source=f"{CONFIG}; torch 2.13",
    asks=(
        "recompute: some-layers with recomputed_layers at half of the layers, for mode selective with "
        "selective_ac_option 2, the default; full and none for these modes",
    ),
    left_out=(
        "torchtitan's own model code and torch.compile: layers are counted as those of transformers",
        "tensor ranks, whose tokens are shared there",
    ),
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer torchtitan."""
    yield TORCHTITAN
