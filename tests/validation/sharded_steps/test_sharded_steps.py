"""What one rank of several holds: real steps of small models beside the engines fsdp1, fsdp2 and ddp."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from alignsim import Algorithm, Architecture, Batch, Given, Layout, Scenario

FIGURES = json.loads(Path(__file__).with_name("figures.json").read_text(encoding="utf-8"))
MODEL = Architecture(name="six layers", **FIGURES["shape"])
MOMENTS = {
    "forward": ("forward_layers", "forward_head", "loss"),
    "backward": ("backward_loss", "backward_head", "backward_last_layer", "backward_first_layer", "backward_end"),
    "optimizer": ("optimizer_step",),
}
ASKED = Algorithm(name="asked", phases={"score": {"policy": "infer"}}, numbers={"rows_per_sample": Given(1.0)})
CLOSE = 0.003
ONE_AT_A_TIME = 0.02
"""Where gradients are added to others in place, the one being made is left out: a matrix, here 2 % of everything."""


def engine_of(s):
    return "fsdp2-tensor" if s["tensor"] > 1 else s["engine"]


def predicted(case):
    s = {**FIGURES["defaults"], **case}
    engines = {
        "fsdp2": {
            "reduce_bytes": s["reduce_bytes"],
            "replicas": s["replicas"],
            "no_sync": float(s["no_sync"]),
            "reshard_after_forward": float(s["reshard"]),
            "reshards_root": float(s["reshard_root"] is True),
            "wraps_embedding": float("embedding" in s["units"]),
            "wraps_head": float("head" in s["units"]),
            "gathers_next": float(s["ahead"]),
        },
        "fsdp1": {
            "reduce_bytes": s["reduce_bytes"],
            "replicas": s["replicas"],
            "no_sync": float(s["no_sync"]),
            "reshard_after_forward": float(s["strategy"] in ("FULL_SHARD", "HYBRID_SHARD")),
            "use_orig_params": float(s["use_orig_params"]),
            "backward_prefetch": float(s["prefetch"] == "BACKWARD_PRE"),
            "backward_prefetch_post": float(s["prefetch"] == "BACKWARD_POST"),
        },
        "fsdp2-tensor": {},
        "ddp": {"gradient_as_bucket_view": float(s["view"])},
    }
    engine = engine_of(s)
    numbers = engines[s["engine"]] | engines[engine]
    run = Scenario(
        algorithm="SFT",
        models={"policy": MODEL},
        components={
            "precision": "bf16-gathered" if s["weight_bytes"] == 4 else "bf16",
            "optimizer": "adamw-foreach",
            "adapter": "full",
            "recompute": "full" if s["recompute"] else "none",
            "attention": "sdpa",
            "loss": "cross-entropy",
            "layers": "transformers",
            "packing": "equal",
            "engine": engine,
        },
        layout=Layout(data=s["world"] // s["tensor"], tensor=s["tensor"]),
        batch=Batch(micro_batch=s["batch"], sequence_tokens=s["sequence"], accumulation_steps=s["steps"]),
        givens={"input_bytes": 8, **numbers},
    )
    return {
        phase: max(run.result.value(f"update:policy/{moment}.allocated") for moment in moments)
        for phase, moments in MOMENTS.items()
    }


def asked(case):
    s = {**FIGURES["defaults"], **case}
    units = {
        "wraps_embedding": "embedding" in s["units"],
        "wraps_head": "head" in s["units"],
        "gathers_next": s["ahead"],
    }
    alone = s["units"] == "model"
    run = Scenario(
        algorithm=ASKED,
        models={"policy": MODEL},
        components={
            "precision": "bf16-gathered" if s["weight_bytes"] == 4 else "bf16",
            "attention": "sdpa",
            "loss": "cross-entropy",
            "layers": "transformers",
            "packing": "equal",
            "engine": "fsdp2-one-unit" if alone else engine_of(s),
        },
        layout=Layout(data=s["world"] // s["tensor"], tensor=s["tensor"]),
        batch=Batch(micro_batch=s["batch"], sequence_tokens=s["sequence"]),
        givens={"reshards_root": float(s["reshard_root"] is True)}
        | ({} if alone else {name: float(flag) for name, flag in units.items()}),
    )
    return run.result.value("allocated")


@pytest.mark.parametrize("row", [r for r in FIGURES["rows"] if "inference" in r["peaks"]], ids=lambda r: str(r["case"]))
def test_a_forward_without_gradients(row):
    assert asked(row["case"]) == pytest.approx(row["peaks"]["inference"], rel=CLOSE)


@pytest.mark.parametrize(
    "row", [row for row in FIGURES["rows"] if "forward" in row["peaks"]], ids=lambda row: json.dumps(row["case"])
)
def test_a_small_step(row):
    found = predicted(row["case"])
    case = {**FIGURES["defaults"], **row["case"]}
    in_place = (
        case["view"] or (case["no_sync"] and case["reduce_bytes"] == 0) or (case["engine"], case["steps"]) == ("ddp", 2)
    )
    errors = {phase: found[phase] / measured - 1 for phase, measured in row["peaks"].items()}
    assert abs(errors["forward"]) <= CLOSE, errors
    assert abs(errors["optimizer"]) <= CLOSE, errors
    assert abs(errors["backward"]) <= (ONE_AT_A_TIME if in_place else CLOSE), errors
