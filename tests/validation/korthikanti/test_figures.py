"""Korthikanti et al. 2022: states and activations of four GPTs, to the printed digits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from alignsim import Architecture, Batch, Layout, Scenario
from megatron_runs import COMPONENTS

FIGURES = json.loads(Path(__file__).with_name("figures.json").read_text(encoding="utf-8"))
GIB = 2**30


def result(row, *, sequence_parallel=False, recompute="none"):
    """The paper counts matrices and tensors of the layers' size: no norms, no biases, no statistics."""
    model = Architecture(
        name=row["model"],
        layers=row["layers"],
        hidden=row["hidden"],
        heads=row["heads"],
        ffn=4 * row["hidden"],
        vocab=51200,
        gated=False,
        norm_weight=False,
    )
    return Scenario(
        algorithm="SFT",
        models={"policy": model},
        components={**COMPONENTS, "attention": "megatron-unfused", "recompute": recompute},
        layout=Layout(tensor=8, pipeline=row["pipeline"], virtual=row["virtual"], sequence_parallel=sequence_parallel),
        batch=Batch(micro_batch=row["micro_batch"], sequence_tokens=2048, accumulation_steps=row["micro_batches"]),
        givens={
            "hidden_dropout": 0.1,
            "attention_dropout": 0.1,
            "statistic_bytes": "0 byte",
            "distributed_optimizer": 0,
        },
    ).result


def states(row):
    """Weights, gradients, the optimizer's copy and moments: 18 bytes for every parameter of the stage's layers."""
    run = result(row)
    held = sum(
        run.value(f"policy[first].{name}")
        for name in ("held_weights", "held_gradients", "held_master_weights", "held_optimizer_state")
    )
    of_layers = run.value("policy[first].stage_layers") * run.value("policy.layer_parameters")
    return held / run.value("policy[first].stage_parameters") * of_layers


def activations(row, **settings):
    return result(row, **settings).value("update:policy[first].held_activations")


COUNTS = {
    "po": states,
    "act-none": activations,
    "act-seqsel": lambda row: activations(row, sequence_parallel=True, recompute="core-attention"),
}


@pytest.mark.parametrize("figure", COUNTS)
@pytest.mark.parametrize("row", FIGURES["rows"], ids=lambda row: row["model"])
def test_a_figure(row, figure):
    assert COUNTS[figure](row) / GIB == pytest.approx(row["figures"][figure], rel=1e-13)


def test_what_is_left_out_is_no_exact_figure_of_memory():
    assert set(FIGURES["left_out"].values()) == {"digitised from a bar chart", "a time, not memory"}
    assert len(FIGURES["left_out"]) == 24
