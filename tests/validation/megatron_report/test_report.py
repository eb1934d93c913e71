"""Megatron-LM's own report (training/theoretical_memory_usage.py, d98e8a64), where it is right and where it is not.

It is right about the states of dense models, and about the layers of a GPT with sequence parallel and attention that
is not kept: ``s b h (18 + 4 f / h) / t`` bytes a layer.
"""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Layout
from megatron_runs import model, run

GPT = {"gated": False, "kv_heads": 8, "vocab": 1024}
UNFUSED = {"attention": "megatron-unfused", "recompute": "core-attention"}
DROPOUT: Any = {"hidden_dropout": 0.1, "attention_dropout": 0.1, "statistic_bytes": "0 byte"}


@pytest.mark.parametrize(("data", "context"), [(1, 1), (8, 1), (2, 4)])
@pytest.mark.parametrize("distributed", [0, 1])
def test_bytes_for_every_parameter(data, context, distributed):
    """18, or 6 + 12 / data; context ranks share the optimizer's states too, which the report leaves out."""
    result = run(model(), Layout(data=data, context=context), distributed_optimizer=distributed).result
    held = sum(
        result.value(f"policy[first].{name}")
        for name in ("held_weights", "held_gradients", "held_master_weights", "held_optimizer_state")
    )
    expected = 6 + 12 / (data * context) if distributed else 18
    assert held / result.value("policy[first].stage_parameters") == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("tensor", [2, 4, 8])
@pytest.mark.parametrize("ffn", [512, 1024, 2048])
def test_bytes_of_a_layer(tensor, ffn):
    layout = Layout(tensor=tensor, sequence_parallel=True)
    result = run(model(**GPT, ffn=ffn), layout, components=UNFUSED, **DROPOUT).result
    assert result.value("policy.layer_saved") == 256 * (18 + 4 * ffn / 256) / tensor


def test_a_gate_keeps_half_as_much_again():
    """The report counts the two inner tensors of a GPT; with a gate there are three, and no masks without dropout."""
    layout = Layout(tensor=2, sequence_parallel=True)
    plain, gated = (
        run(model(**{**GPT, "gated": gate}, ffn=1024), layout, components=UNFUSED, **DROPOUT).result
        for gate in (False, True)
    )
    assert gated.value("policy.mlp_kept") == 1.5 * plain.value("policy.mlp_kept")


def test_full_recomputation_keeps_less_than_selective():
    """In the report it keeps more, as it falls into the branch without sequence parallel, which recomputes nothing."""
    layout = Layout(tensor=8, pipeline=4, sequence_parallel=True)
    selective, full = (
        run(model(**GPT), layout, components={**UNFUSED, "recompute": how}, **DROPOUT).result
        for how in ("core-attention", "full")
    )
    held = "update:policy[first].held_activations"
    assert full.value(held) < selective.value(held) / 10
    assert full.value(held) == 2 * 256 / 8 * 128 * 8
