"""What a run under the defaults of Megatron-LM and of Megatron-Bridge gets, with its bytes a parameter by hand."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Batch, InvalidInput, Layout, Scenario

LLAMA_3_1_8B, LAYERS, HIDDEN, DEVICES = 8_030_261_248, 32, 4096, 8
STATES = ("held_weights", "held_gradients", "held_master_weights", "held_optimizer_state")


def run(preset: str, **more: Any) -> Scenario:
    return Scenario(
        **{
            "algorithm": "SFT",
            "models": {"policy": "Llama-3.1-8B"},
            "preset": preset,
            "layout": Layout(data=DEVICES),
            "batch": Batch(micro_batch=1, sequence_tokens=2048),
            "accelerator": "H100-SXM5-80GB",
            **more,
        }
    )


def states(asked: Scenario) -> float:
    return float(sum(asked.result.value(f"policy[first].{name}") for name in STATES)) / LLAMA_3_1_8B


def test_megatron_lm_shares_nothing_unless_told():
    """2 of weights, 4 of gradients, 4 of a copy, 8 of moments, on every rank."""
    assert states(run("megatron-lm")) == pytest.approx(18, rel=1e-3)
    assert states(run("megatron-lm", givens={"distributed_optimizer": 1})) == pytest.approx(6 + 12 / DEVICES, rel=1e-3)


def test_megatron_bridge_shares_its_optimizer():
    assert states(run("megatron-bridge")) == pytest.approx(6 + 12 / DEVICES, rel=1e-3)


def test_megatron_lm_keeps_two_masks_of_dropout_a_layer_and_one_of_the_embedding():
    dropped, kept = (
        run("megatron-lm", givens=givens).result.value("update:policy/forward_head[first].allocated")
        for givens in ({}, {"hidden_dropout": 0})
    )
    assert dropped - kept == (2 * LAYERS + 1) * HIDDEN * 2048


def test_megatron_bridge_packs_2048_tokens():
    asked = run("megatron-bridge", batch=Batch())
    assert asked.settled.components["packing"].name == "packed"
    assert asked.result.value("policy.tokens") == 2048


def test_megatron_lm_asks_for_sizes():
    with pytest.raises(Exception, match="micro_batch_size and seq_length have no default"):
        _ = run("megatron-lm", batch=Batch()).result


@pytest.mark.parametrize("preset", ["megatron-lm", "megatron-bridge"])
def test_other_engines_are_refused(preset):
    with pytest.raises(InvalidInput, match="'megatron' there, got 'fsdp2'"):
        _ = run(preset, components={"engine": "fsdp2"}).result
