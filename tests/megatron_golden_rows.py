"""NVIDIA's measured test cases as runs: arguments of Megatron-LM to a scenario, a row to its configuration."""

from __future__ import annotations

import json
import os
from pathlib import Path
from statistics import median
from typing import Any

from alignsim import AlignSimError, Architecture, Batch, Layout, Scenario

Row = dict[str, Any]

VIRTUAL = {"gpt3_mcore_te_tp1_pp4_vp2_account_for_embedding_loss_in_pipeline_split": 2}
"""Pieces that the arguments of a case do not say, and its name does."""

UNRECORDED = {
    "gpt3_mcore_tp2_pp2_uninstall_te": {"fused_softmax": 0},
    "gpt3_mcore_te_tp2_pp1_multi_dist_optimizer_instances": {"optimizer_instances": 2},
}
"""Arguments that the record leaves out, of the cases' model_config.yaml: --no-masked-softmax-fusion and
--num-distributed-optimizer-instances 2."""

WORKSPACES = {"a100": "68 MiB", "lts": "68 MiB"}
"""By words of the machine: TransformerEngine's workspace is 4 MiB on an A100, 32 MiB on later devices."""


RECOMPUTED = {
    "layernorm": "recomputed_norms",
    "mla_up_proj": "recomputed_up_projection",
    "mlp": "recomputed_mlp",
    "moe_act": "recomputed_activation",
}
"""Modules of selective recomputation by the inputs that stand for them."""


class Arguments(dict[str, str]):
    """Arguments by name, all of them texts."""

    def count(self, name: str, default: int = 0) -> int:
        return int(self.get(name, default))

    def flag(self, name: str) -> bool:
        return self.get(name) == "true"

    def part(self, name: str, default: float) -> float:
        return float(self.get(name, default))


def architecture(a: Arguments) -> Architecture:
    """Return the model of a case; what it does not say is Megatron-LM's default."""
    hidden, heads = a.count("hidden-size"), a.count("num-attention-heads")
    gated = a.flag("swiglu")
    ffn = a.count("ffn-hidden-size", int(4 * hidden * 2 / 3) // 64 * 64 if gated else 4 * hidden)
    positions = a.get("position-embedding-type", "learned_absolute") == "learned_absolute"
    latent = a.flag("multi-latent-attention")
    rms = a.get("normalization") == "RMSNorm"
    return Architecture(
        name="case",
        layers=a.count("num-layers"),
        hidden=hidden,
        heads=heads,
        kv_heads=a.count("num-query-groups") if a.flag("group-query-attention") else heads,
        head_dim=192 if latent else a.count("kv-channels", hidden // heads),
        kv_lora_rank=a.count("kv-lora-rank", 32) if latent else 0,
        q_lora_rank=a.count("q-lora-rank") if latent else 0,
        qk_nope_head_dim=128 if latent else 0,
        qk_rope_head_dim=64 if latent else 0,
        v_head_dim=128 if latent else 0,
        experts=a.count("num-experts"),
        experts_per_token=a.count("moe-router-topk", 2) if "num-experts" in a else 0,
        expert_ffn=a.count("moe-ffn-hidden-size", ffn) if "num-experts" in a else 0,
        ffn=ffn,
        vocab=a.count("vocab-size", 50257),
        tied=not a.flag("untie-embeddings-and-output-weights"),
        learned_positions=a.count("seq-length") if positions else 0,
        gated=gated,
        qkv_bias=not latent,
        output_bias=not latent,
        mlp_bias=True,
        rms_norm=rms,
        norm_bias=not rms,
    )


def layout(a: Arguments, case: str, gpus: int) -> Layout:
    """Return how a case spreads it."""
    tensor, pipeline = a.count("tensor-model-parallel-size"), a.count("pipeline-model-parallel-size")
    context = a.count("context-parallel-size", 1)
    layers = a.count("num-layers-per-virtual-pipeline-stage")
    named = next((v for name, v in VIRTUAL.items() if case.startswith(name)), 1)
    return Layout(
        tensor=tensor,
        pipeline=pipeline,
        context=context,
        data=gpus // (tensor * pipeline * context),
        expert=a.count("expert-model-parallel-size", 1),
        expert_tensor=a.count("expert-tensor-parallel-size") if "num-experts" in a else 0,
        sequence_parallel=a.flag("sequence-parallel") and tensor > 1,  # Megatron-LM switches it off alone
        virtual=a.count("num-layers") // pipeline // layers if layers else named,
        micro_batch_group=a.count("microbatch-group-size-per-virtual-pipeline-stage", 0),
        first_stage_layers=a.count("decoder-first-pipeline-num-layers", 0),
        last_stage_layers=a.count("decoder-last-pipeline-num-layers", 0),
        embedding_in_split=a.flag("account-for-embedding-in-pipeline-split"),
        loss_in_split=a.flag("account-for-loss-in-pipeline-split"),
    )


def recompute(a: Arguments) -> str:
    """Return what is recomputed: whole layers one by one, or nothing but what its modules say."""
    whole = a.get("recompute-granularity") == "full" and a.get("recompute-method") == "uniform"
    return "full" if whole and a.count("recompute-num-layers", 1) == 1 else "none"


def scenario(row: Row) -> Scenario:
    """Return the run of a row; nothing in it is fitted."""
    a = Arguments(row["args"])
    spread = layout(a, row["case"], row["gpus"])
    unfused = a.get("attention-backend") == "unfused" or a.get("transformer-impl") == "local"
    return Scenario(
        algorithm="SFT",
        models={"policy": architecture(a)},
        components={
            "precision": "bf16-master" if a.flag("fp16") else "megatron-bf16",
            "optimizer": "megatron-adam",
            "adapter": "full",
            "recompute": recompute(a),
            "attention": "megatron-unfused" if unfused else "megatron-fused",
            "packing": "equal",
            "loss": "megatron-d98e8a6",
            "layers": "megatron",
            "engine": "megatron",
        },
        layout=spread,
        batch=Batch(
            micro_batch=a.count("micro-batch-size"),
            sequence_tokens=a.count("seq-length"),
            accumulation_steps=a.count("global-batch-size") // (a.count("micro-batch-size") * spread.data),
        ),
        givens={
            "hidden_dropout": a.part("hidden-dropout", 0.1),
            "recomputed_layers_a_piece": a.count("recompute-num-layers")
            if a.get("recompute-method") == "block" and a.get("recompute-granularity") == "full"
            else 0,
            **UNRECORDED.get(row["case"], {}),
            **{name: 1 for module, name in RECOMPUTED.items() if module in a.get("recompute-modules", "")},
            **({"attention_dropout": a.part("attention-dropout", 0.1)} if unfused else {}),
            "gradient_accumulation_fusion": int(not a.flag("no-gradient-accumulation-fusion")),
            "distributed_optimizer": int(a.flag("use-distributed-optimizer")),
            "vocabulary_multiple": a.count("make-vocab-size-divisible-by", 128),
            "megatron_workspaces": next((s for word, s in WORKSPACES.items() if word in row["hardware"]), "96 MiB"),
        },
    )


def predicted(row: Row) -> float:
    """Return the peak on the last stage's rank, which is the one that was logged."""
    made = scenario(row)
    kind = "last" if made.layout.pipeline > 1 else "first"
    peaks: list[float] = [b.value for b in made.result.bindings("allocated") if b.stage == kind]
    return max(peaks)


def configurations(rows: list[Row]) -> list[list[Row]]:
    """Return rows by what was run, other than the machine and the container."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["scoreable"]:
            found.setdefault(json.dumps([row["args"], row["gpus"]], sort_keys=True), []).append(row)
    return list(found.values())


def error(rows: list[Row]) -> float | None:
    """Return the median error of one configuration; None where its run is refused."""
    try:
        off: list[float] = [predicted(row) / row["mem_max_allocated_bytes"] - 1 for row in rows]
    except AlignSimError:
        return None
    return median(off)


def measured() -> list[Row] | None:
    """Return the rows of megatron_measured.json in the folder that ALIGNSIM_CORPORA names; None without it."""
    file = Path(os.environ.get("ALIGNSIM_CORPORA", "")) / "megatron_measured.json"
    if "ALIGNSIM_CORPORA" not in os.environ or not file.is_file():
        return None
    rows: list[Row] = json.loads(file.read_text(encoding="utf-8"))["rows"]
    return rows
