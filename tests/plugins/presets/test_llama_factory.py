"""LLaMA-Factory's preset beside counts by hand."""

from __future__ import annotations

import pytest

from alignsim import Batch, Layout, Scenario

PARAMETERS = 8_030_261_248
HIDDEN, KEYS, FFN, LAYERS, RANK = 4096, 1024, 14336, 32, 8
ADAPTERS = LAYERS * RANK * (2 * (HIDDEN + HIDDEN) + 2 * (HIDDEN + KEYS) + 3 * (HIDDEN + FFN))
"""Of all linear layers: both matrices of each have so many rows or columns of that rank."""


def run(algorithm, said=None, data=8, **batch):
    return Scenario(
        algorithm=algorithm,
        models={"policy": "Llama-3.1-8B"},
        preset="llama-factory",
        components=said or {},
        layout=Layout(data=data),
        batch=Batch(**batch),
        accelerator="H100-SXM5-80GB",
    )


def chosen(asked, place):
    return asked.settled.components[place].name


def test_adapters_of_rank_8_over_16_bits():
    asked = run("SFT", data=1, micro_batch=1)
    assert chosen(asked, "precision") == "autocast-bf16"
    assert asked.result.value("policy.trainable_parameters") == ADAPTERS == 20_971_520
    assert asked.result.value("policy.held_optimizer_state") == 8 * ADAPTERS
    assert asked.result.value("policy.held_weights") == 2 * PARAMETERS + 4 * ADAPTERS


def test_all_weights_are_in_32_bits_and_the_reference_in_16():
    asked = run("DPO", {"adapter": "full"}, micro_batch=1)
    assert asked.result.value("policy.held_weights") == 4 * PARAMETERS
    assert asked.result.value("reference.held_weights") == 2 * PARAMETERS


@pytest.mark.parametrize(
    ("engine", "reference", "held"),
    [
        ("zero-2", "zero-replica", 2 * PARAMETERS),
        ("zero-3", "zero-inference", 2 * PARAMETERS / 8),
        ("fsdp1", "single-device", 2 * PARAMETERS),
    ],
)
def test_where_a_reference_is_whole(engine, reference, held):
    asked = run("DPO", {"adapter": "full", "engine": engine}, micro_batch=1)
    assert chosen(asked, "reference.engine") == reference
    assert asked.result.value("reference.held_weights") == pytest.approx(held, rel=1e-3)


def test_adapters_take_the_references_place():
    assert chosen(run("DPO"), "reference.engine") == "same-weights"
    assert chosen(run("DPO", {"engine": "zero-3"}), "reference.engine") == "zero-3-same-weights"


def test_sizes():
    batch = run("DPO").settled.batch
    assert (batch.micro_batch, batch.sequence_tokens) == (8, 2048)
