"""What a run under plain FSDP2 and under torchtitan gets, with its bytes a parameter by hand."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Batch, InvalidInput, Layout, Scenario
from alignsim.errors import CompositionError

LLAMA_3_1_8B, DEVICES = 8_030_261_248, 8


def run(preset: str, said: dict[str, str] | None = None, **more: Any) -> Scenario:
    return Scenario(
        **{
            "algorithm": "SFT",
            "models": {"policy": "Llama-3.1-8B"},
            "preset": preset,
            "components": said or {},
            "layout": Layout(data=DEVICES),
            "batch": Batch(micro_batch=1, sequence_tokens=2048),
            "accelerator": "H100-SXM5-80GB",
            **more,
        }
    )


def step(asked: Scenario) -> float:
    return float(asked.result.value("update:policy/optimizer_step.allocated")) / LLAMA_3_1_8B


def test_plain_fsdp2_steps_20_bytes_a_parameter_over_the_ranks():
    """4 of weights, 4 of gradients, 8 of moments, 4 of foreach's square roots."""
    assert step(run("pytorch-fsdp2")) == pytest.approx(20 / DEVICES, rel=1e-3)


def test_torchtitan_steps_16_as_its_adamw_is_fused():
    assert step(run("torchtitan", {"recompute": "full"})) == pytest.approx(16 / DEVICES, rel=1e-3)


def test_torchtitan_wraps_embedding_and_head_and_reduces_in_32_bits():
    asked = run("torchtitan", {"recompute": "full"}, batch=Batch())
    givens = {name: asked.settled.givens[name].value for name in ("wraps_embedding", "wraps_head", "reduce_bytes")}
    assert givens == {"wraps_embedding": 1, "wraps_head": 1, "reduce_bytes": 4}
    assert (asked.settled.batch.micro_batch, asked.settled.batch.sequence_tokens) == (8, 2048)


def test_torchtitan_asks_how_many_layers_are_recomputed():
    with pytest.raises(CompositionError, match="recomputed_layers at half of the layers"):
        _ = run("torchtitan").result
    half = run("torchtitan", {"recompute": "some-layers"}, givens={"recomputed_layers": 16}).result
    assert half.value("policy.recomputed_share") == 0.5


@pytest.mark.parametrize(
    ("preset", "said", "told"),
    [
        ("torchtitan", {"engine": "fsdp1"}, "'fsdp2' or 'fsdp2-cpu-offload'"),
        ("torchtitan", {"adapter": "lora"}, "'full' there, got 'lora'"),
        ("pytorch-fsdp2", {"engine": "zero-3"}, "'fsdp2' or 'fsdp2-tensor' or"),
    ],
)
def test_what_is_not_theirs_is_told(preset, said, told):
    with pytest.raises(InvalidInput, match=told):
        _ = run(preset, said).result
